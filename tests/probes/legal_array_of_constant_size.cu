// A local array whose size is a constant.
__global__ void k(int*p) { const int n = 3; int a[n]; a[0]=n; p[0] = a[0]; constexpr int m = n*2; int b[m]; b[0]=0; p[1]=b[0]; }
