// A function handed on.
template <class F> __device__ int ap(F f, int x) { return f(x); }
__device__ int sq(int x) { return x*x; }
__global__ void k(int*p) { p[0] = ap(sq, 3); int (*q)(int) = sq; p[1] = q(2); }
