// A function of the device calls itself.
__device__ int fib(int n) { return n < 2 ? n : fib(n-1)+fib(n-2); }
__global__ void k(int*p) { p[0] = fib(p[1]); }
