// needs a GPU: gpu_thrust.cu:5: error: the CPU back end has no thrust::pair, which is a library's: write that part as a kernel
#include "kata.hpp"

#include <thrust/pair.h>
void f(thrust::pair<int, float>) {}
