// illegal: 'strlen' of the C++ library
#include <cstring>
__global__ void k(char*p) { p[0] = strlen(p); }
