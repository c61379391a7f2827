// illegal: 'c' is a variable of the device
#include <cstring>
__device__ float x; __constant__ float c[4];
void h(float* p) { p[0] = c[1]; memcpy(c, p, 4); }
