// illegal: 'cudaDeviceSynchronize' is for host code alone
__global__ void k(float* p) { cudaDeviceSynchronize(); }
