// A launch is an expression.
#include "kata.hpp"

__global__ void k(float* out, int n) { out[threadIdx.x] = n; }

void f(float* out, int n) {
    (k<<<1, 2>>>(out, n));
    n > 0 ? k<<<1, 2>>>(out, n) : (void)0;
    k<<<1, 2>>>(out, n), k<<<1, 3>>>(out, n);
    if (n > 1) k<<<1, 2>>>(out, n);
    else k<<<1, 3>>>(out, n);
    for (int i = 0; i < n; ++i) k<<<1, 2>>>(out, i);
    do k<<<1, 2>>>(out, n); while (--n > 0);
    switch (n) {
        case 1: k<<<1, 2>>>(out, n); break;
        default: k<<<1, 4>>>(out, n);
    }
    auto later = [=] { return k<<<1, 2>>>(out, n); };
    later();
    (k)<<<1, 2>>>(out, n);
    if (n > 2) (k)<<<1, 2>>>(out, n);
}
