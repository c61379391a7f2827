// illegal: 'swap' of the C++ library
#include <utility>
__global__ void k(float* p) { std::swap(p[0],p[1]); }
