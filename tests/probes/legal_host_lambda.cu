// illegal: takes no lambda of the host
template<class F> __global__ void k(int*p, F f) { p[0] = f(3); }
void h(int* p) { k<<<1,1>>>(p, [](int x) { return x; }); }
