// A launch in a macro, of one line and of several.
#include "kata.hpp"

__global__ void k(float* out, int n) { out[threadIdx.x] = n; }
template <int n, class T>
__global__ void t(T* out) {
    out[threadIdx.x] = n;
}

#define LAUNCH(kernel, grid, block, ...) kernel<<<grid, block>>>(__VA_ARGS__)
#define RUN(kernel, ...)                    \
    do {                                    \
        kernel<<<dim3(1, 2),  /* a grid */  \
                 dim3(32)>>>(__VA_ARGS__);  \
        check(cudaGetLastError());          \
    } while (0)
#define SHAPE 2, 64
#define ARGUMENTS (out, n)
void f(float* out, int n) {
    LAUNCH(k, 1, 2, out, n);
    LAUNCH((t<4, float>), 1, 2, out);
    RUN(k, out, n);
    k<<<SHAPE>>>(out, n);
    k<<<1, 2>>>ARGUMENTS;
}
