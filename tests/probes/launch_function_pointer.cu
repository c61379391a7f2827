// A launch by a pointer to a kernel, or out of an array of them.
#include "kata.hpp"

__global__ void k(float* out, int n) { out[threadIdx.x] = n; }

__global__ void l(float* out, int n) { out[threadIdx.x] = 2 * n; }
using Kernel = void (*)(float*, int);
struct Choice { Kernel kernel; };
Kernel chosen(int n) { return n > 1 ? k : l; }
template <class T> Kernel chosen_by_type(T n) { return n > 1 ? k : l; }
void f(float* out, int n, Kernel given) {
    void (*pointer)(float*, int) = k;
    auto other = &l;
    Kernel table[] = {k, l};
    Choice choice{k}, *chosen_by = &choice;
    pointer<<<1, 2>>>(out, n);
    other<<<1, 2>>>(out, n);
    given<<<1, 2>>>(out, n);
    table[n % 2]<<<1, 2>>>(out, n);
    choice.kernel<<<1, 2>>>(out, n);
    chosen_by->kernel<<<1, 2>>>(out, n);
    chosen(n)<<<1, 2>>>(out, n);
    chosen_by_type<int>(n)<<<1, 2>>>(out, n);
    (n > 1 ? k : l)<<<1, 2>>>(out, n);
    (*pointer)<<<1, 2>>>(out, n);
}
