// illegal: 'max' of the C++ library
#include <algorithm>
__global__ void k(int* p) { constexpr int a = std::max(4,3); p[0] = a; }
