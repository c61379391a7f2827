// Memory and text of a kernel.
#include <cassert>
#include <cstdio>
#include <cstdlib>
__global__ void k(char*p) { char* q = (char*)malloc(3); free(q); int* r = new int[3]; delete[] r; printf("%d", 3); assert(p); }
