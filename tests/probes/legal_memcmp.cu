// illegal: 'memcmp' of the C++ library
#include <cstring>
__global__ void k(char*p) { p[0] = memcmp(p, p+8, 4); }
