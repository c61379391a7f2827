// illegal: of the C++ library
#include <span>
__global__ void k(std::span<int> s) { s[0] = 1; }
