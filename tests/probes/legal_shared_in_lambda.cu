// A lambda in a kernel may have shared memory.
__global__ void k(int* p) { auto f = [&](int i) { __shared__ int s[3]; s[0] = i; return s[0]; }; p[0] = f(3); }
