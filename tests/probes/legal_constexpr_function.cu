// illegal: 'twice' is a host function
constexpr int twice(int a) { return 2 * a; }
__global__ void k(int* p) { p[0] = twice(p[1]); }
