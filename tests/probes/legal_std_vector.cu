// illegal: of the C++ library
#include <vector>
#include <string>
__global__ void k(int* p) { std::vector<int> v(3); p[0] = v[1]; }
