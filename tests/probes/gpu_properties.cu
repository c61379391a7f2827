// needs a GPU: the CPU back end has no cudaDeviceProp
#include "kata.hpp"

int f() { cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); return p.warpSize; }
