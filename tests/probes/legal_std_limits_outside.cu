// A kernel may read a value of the host that is computed at compile time.
#include <limits>
constexpr float inf = std::numeric_limits<float>::infinity(); __global__ void k(float* p) { p[0] = inf; p[1] = -inf; constexpr int d = std::numeric_limits<float>::digits; p[2] = d + std::numeric_limits<int>::is_signed; }
