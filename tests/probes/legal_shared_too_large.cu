// illegal: 80000 bytes of __shared__ variables
__global__ void k(float* p) { __shared__ float c[20000]; c[threadIdx.x] = 1; __syncthreads(); p[0] = c[threadIdx.x+1]; }
