// illegal: 'max' of the C++ library
#include <limits>
__global__ void k(float* p) { p[0] = std::numeric_limits<float>::max(); }
