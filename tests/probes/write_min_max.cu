// min, max, fmin, fmax and their mixtures.
#include "kata.hpp"

__global__ void k(float* out, int n, unsigned u, double d) {
    out[0] = min(n, 3) + max(n, 4) + min(u, 3u) + max(n, u) + min(1.0f, out[1]) + max(d, 2.0) + max(0.0f, d);
    out[1] = fmin(d, 2.0) + fmaxf(out[0], 1.0f) + fminf(1, 2) + max(3LL, 4LL) + min(threadIdx.x, u) + fabsf(out[2]) + abs(n);
    out[2] = sqrtf(out[0]) + expf(out[1]) + logf(2.0f) + powf(2.0f, 3.0f) + __expf(1.0f) + rsqrtf(2.0f) + floorf(1.5f) + fmaf(1, 2, 3);
}
void f(float* out, int n) { k<<<1, 2>>>(out, n, 1, 2); }
