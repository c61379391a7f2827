// illegal: 'n' is a variable of the host
int hh() { return 3; }
const int n = hh(); 
__global__ void k(int* p) { p[0] = n; }
