// A kernel as the argument of a function, of a template and of a lambda.
#include "kata.hpp"

__global__ void k(float* out, int n) { out[threadIdx.x] = n; }

template <class F, class... A> void run(F kernel, int n, A... a) { kernel<<<1, n>>>(a...); }
template <void (*kernel)(float*, int)> void run_fixed(float* out, int n) { kernel<<<1, n>>>(out, n); }
void f(float* out, int n) {
    run(k, 32, out, n);
    run_fixed<k>(out, n);
    const auto run_here = [&](auto kernel, int threads) { kernel<<<1, threads>>>(out, n); };
    run_here(k, 32);
}
