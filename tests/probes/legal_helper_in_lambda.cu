// illegal: 'host' is a host function
int host() { return 3; }
__global__ void k(int* p) { auto f = [] { return host(); }; p[0] = f(); }
