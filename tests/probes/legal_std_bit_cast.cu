// illegal: 'bit_cast' of the C++ library
#include <bit>
__global__ void k(int* p) { p[0] = std::bit_cast<int>(2.0f); }
