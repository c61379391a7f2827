// illegal: 'k' is a kernel
__global__ void k(int*p) { p[0] = 1; }
void h(int*p) { k(p); }
