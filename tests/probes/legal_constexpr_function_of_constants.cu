// illegal: 'twice' is a host function
constexpr int twice(int a) { return 2 * a; }
__global__ void k(int* p) { constexpr int a = twice(4); p[0] = a; }
