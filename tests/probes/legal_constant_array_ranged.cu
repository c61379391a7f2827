// illegal: 't' is a variable of the host
constexpr int t[3] = {1,2,3};
__global__ void k(float* p) { for (int i : t) p[i] = i; }
