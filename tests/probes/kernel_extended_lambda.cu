// refused: it would need --extended-lambda
template <class F> __global__ void k(int* p, F f) { p[0] = f(3); }
void h(int* p) { k<<<1, 1>>>(p, [] __device__(int x) { return x; }); }
