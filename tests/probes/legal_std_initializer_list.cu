// In device code, nvcc accepts std::initializer_list.
#include <initializer_list>
__global__ void k(int*p) { int s = 0; for (int x : {1,2,3}) s += x; p[0] = s; }
