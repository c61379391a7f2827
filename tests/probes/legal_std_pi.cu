// A constant of the C++ library is a number.
#include <numbers>
__global__ void k(float* p) { p[0] = std::numbers::pi_v<float>; }
