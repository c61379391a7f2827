// needs a GPU: the CPU back end has no cooperative launches: end the kernel where its blocks wait
#include "kata.hpp"

__global__ void k(float* out) { out[0] = 1; }
void f(float* out) { void* arguments[] = {&out}; check(cudaLaunchCooperativeKernel(k, 1, 32, arguments)); }
