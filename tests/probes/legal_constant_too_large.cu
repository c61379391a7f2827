// illegal: 80000 bytes of __constant__ variables
__constant__ float c[20000];
__global__ void k(float* p) { p[0] = c[threadIdx.x]; }
