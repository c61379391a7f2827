// illegal: the size of a local array
__global__ void k(int*p, int n) { int a[n]; a[0] = 1; p[0] = a[0]; }
