// Atomics for a block and for the system, reductions of a warp, and half in host code.
#include <cuda_fp16.h>
__global__ void k(int* p) { atomicAdd_block(p, 1); atomicMax_system(p, __reduce_max_sync(~0u, p[1])); }
float f(float x) { return __half2float(__float2half(x) + __float2half(1.0f)); }
