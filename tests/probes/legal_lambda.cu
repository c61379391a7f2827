// A lambda in a kernel, with an auto parameter.
__global__ void k(int*p) { auto f = [&](auto x) { return x + p[1]; }; p[0] = f(3); }
