// illegal: 'g2' is a variable of the host
int g2 = 3;
__global__ void k(int* p) { g2 = 4; }
