// illegal: 'helper' is a host function
int helper(int a) { return a; }
__global__ void k(int*p) { p[0] = helper(1); }
