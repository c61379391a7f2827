// illegal: 'rand' of the C++ library
#include <cstdlib>
__global__ void k(int*p) { p[0] = rand(); }
