// illegal: 'infinity' of the C++ library
#include <limits>
__global__ void k(float* p) { if (p[0] > std::numeric_limits<float>::infinity()) p[0] = -std::numeric_limits<float>::infinity(); }
