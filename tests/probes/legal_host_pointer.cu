// illegal: 'g2' is a variable of the host
int* g2;
__global__ void k(int* p) { p[0] = g2[0]; }
