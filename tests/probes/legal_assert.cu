// Assertions on both sides.
#include <cassert>
__global__ void k(int* p) { assert(p != nullptr); static_assert(sizeof(int) == 4, "x"); }
void h(int* p) { assert(p); }
