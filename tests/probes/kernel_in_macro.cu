// Kernels and their launches that a macro writes.
#include "kata.hpp"

#define KERNEL(name, T) \
    __global__ void name(T* out, int n) { out[n] = 1; } \
    void launch_##name(T* out, int n) { name<<<1, 2>>>(out, n); }
KERNEL(fill_float, float)
KERNEL(fill_int, int)
#define GLOBAL __global__ void
GLOBAL k(float* out) { out[0] = 1; }
void f(float* out, int* numbers) {
    launch_fill_float(out, 1);
    launch_fill_int(numbers, 1);
    k<<<1, 2>>>(out);
}
