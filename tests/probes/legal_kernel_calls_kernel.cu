// illegal: 'g' is a kernel
__device__ void f(int* p); __global__ void g(int* p) { }
__global__ void k(int* p) { g(p); }
