// illegal: of the C++ library
#include <functional>
void h(int* p); template<class F> __global__ void k(int* p, F f) { p[0] = f(1,2); } void g(int* p) { k<<<1,1>>>(p, std::plus<int>{}); }
