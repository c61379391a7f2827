// Of std, nvcc takes a list in braces in device code.
#include <initializer_list>
__global__ void k(int*p) { int s = 0; for (int x : {1,2,3}) s += x; p[0] = s; }
