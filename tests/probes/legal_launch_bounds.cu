// A kernel with bounds, whose helpers are inlined and are not.
inline __device__ float f(float x) { return x; }
static __forceinline__ __device__ float g(float x) { return f(x); }
__global__ void __launch_bounds__(256, 2) k(float* __restrict__ p) { p[0] = g(p[1]); }
