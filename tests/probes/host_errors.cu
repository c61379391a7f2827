// The runtime's functions return a cudaError_t, in any place and whether or not it is read.
#include "kata.hpp"

#include <cstdio>

__global__ void k(float* out, int n) { out[threadIdx.x] = n; }

bool f(float* out, int n) {
    k<<<1, 32>>>(out, n);
    auto error = cudaGetLastError();
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    const auto asked = [&] {
        if (n == 0) return cudaErrorUnknown;
        return cudaPeekAtLastError();
    };
    std::printf("%d %s\n", cudaGetLastError(), cudaGetErrorString(n > 0 ? cudaGetLastError() : cudaSuccess));
    if (n < 0)
        cudaGetLastError();
    else
        (void)::cudaPeekAtLastError();
    switch (cudaGetLastError()) {
        case cudaSuccess:
            return asked() == cudaSuccess;
        default:
            return false;
    }
}
