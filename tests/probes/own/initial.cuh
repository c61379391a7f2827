// For header_refused.cu.
__global__ inline void k(int* out) { __shared__ int n = 0; out[0] = n; }
