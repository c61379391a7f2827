// illegal: 'twice' is a host function
#include <algorithm>
constexpr int twice(int a) { return 2 * a; }
__global__ void k(int* p) { int x[twice(2)]; x[0]=1; static_assert(std::max(1,2)==2); p[0] = x[0]; }
