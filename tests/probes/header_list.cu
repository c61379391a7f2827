// A list that is included twice, each time for something else.
#include "kata.hpp"

#define ITEM(T) __global__ void fill(T* out) { out[0] = 1; }
#include "own/list.inc"
#undef ITEM
#define ITEM(T) void run(T* out) { fill<<<1, 2>>>(out); }
#include "own/list.inc"
void f(float* out, int* numbers) { run(out); run(numbers); }
