// What is worked out on the host, while compiling, a kernel may read.
#include <limits>
constexpr float inf = std::numeric_limits<float>::infinity(); __global__ void k(float* p) { p[0] = inf; p[1] = -inf; constexpr int d = std::numeric_limits<float>::digits; p[2] = d + std::numeric_limits<int>::is_signed; }
