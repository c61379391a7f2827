// A kernel may have static constants of its own.
__global__ void k(int*p) { static const int n[2] = {1,2}; static constexpr int m[2] = {1,2}; p[0] = n[p[1]] + m[p[1]]; }
