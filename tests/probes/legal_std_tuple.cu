// illegal: of the C++ library
#include <tuple>
__global__ void k(int* p) { std::tuple<int,int> t(1,2); p[0] = std::get<0>(t); }
