// Launches in templates, of kernels that depend on their arguments.
#include "kata.hpp"

template <class T, int n> __global__ void k(T* out) { out[0] = n; }
template <class T> struct Problem {
    template <int n> void run(T* out) { k<T, n><<<1, n>>>(out); k<T, 2 * n><<<1, n>>>(out); }
};
template <class T> void run(T* out) {
    k<T, 4><<<1, 2>>>(out);
    Problem<T>{}.template run<4>(out);
}
void f(float* out, double* wide) { run(out); run(wide); }
