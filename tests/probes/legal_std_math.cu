// CUDA has the functions of <cmath>, in std, too.
#include <cmath>
__global__ void k(float* p) { p[0] = std::floor(p[1]) + std::fma(p[0],p[1],p[2]) + std::exp(p[0]) + std::isnan(p[0]) + std::hypot(p[0], p[1]) + std::lround(p[2]) + std::signbit(p[0]) + std::fmod(p[0],p[1]) + std::cbrt(p[0]) + std::trunc(p[1]) + std::round(p[1]) + std::copysign(p[0], 1.f); }
