// illegal: 'hostonly' is a host function
__host__ __device__ int hd(int* p) { return p[0]; }
int hostonly(int);
__host__ __device__ int hd2(int p) { return hostonly(p); }
__global__ void k(int*p) { p[0] = hd2(3); }
