// Cooperative groups, and nothing else.
#include "kata.hpp"

#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(float* out) { cg::this_thread_block().sync(); out[0] = 1; }
void f(float* out) { k<<<1, 2>>>(out); }
