// illegal: 'cudaDeviceSynchronize' is
__global__ void k(float* p) { cudaDeviceSynchronize(); }
