// A lambda in a kernel reads its thread index.
__global__ void k(int* p) { auto f = [=](int i) { return p[i] + threadIdx.x; }; p[0] = f(3); }
