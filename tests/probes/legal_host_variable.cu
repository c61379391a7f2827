// illegal: 'g' is a variable of the host
int g = 3;
__global__ void k(int*p) { p[0] = g; }
