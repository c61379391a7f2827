// Host code reads and writes a variable of the device by its name.
__device__ int n; __global__ void k() { atomicAdd(&n, 1); }
int h() { int r; cudaMemcpyFromSymbol(&r, n, sizeof n); int zero = 0; cudaMemcpyToSymbol(n, &zero, sizeof(int)); return r; }
