// illegal: 'fprintf' of the C++ library
#include <cstdio>
__global__ void k(int*p) { fprintf(stderr, "x"); }
