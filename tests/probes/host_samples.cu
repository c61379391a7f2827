// Host functions of NVIDIA's samples: mapped memory, occupancy by address, complex numbers, properties.
#include "kata.hpp"

#include <cuComplex.h>
#include <cuda_profiler_api.h>

__global__ void k(cuFloatComplex* out, float x) {
    const cuFloatComplex a = make_cuFloatComplex(x, 1.0f);
    out[threadIdx.x] = cuCaddf(cuCmulf(a, cuConjf(a)), make_cuComplex(cuCabsf(a), cuCrealf(a)));
}

int f() {
    cuFloatComplex *mapped, *out;
    check(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync | cudaDeviceMapHost));
    check(cudaHostAlloc(&mapped, 32 * sizeof *mapped, cudaHostAllocMapped | cudaHostAllocPortable));
    check(cudaHostGetDevicePointer(&out, mapped, 0));
    int blocks, grid, block, overlap;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (void*)k, 32, 0));
    check(cudaOccupancyMaxPotentialBlockSize(&grid, &block, (void*)k, 0, 100000));
    check(cudaDeviceGetAttribute(&overlap, cudaDevAttrGpuOverlap, 0));
    check(cudaProfilerStart());
    k<<<1, 32>>>(out, 2.0f);
    check(cudaGetLastError());
    check(cudaProfilerStop());
    check(cudaHostRegister(&grid, sizeof grid, cudaHostRegisterDefault));
    check(cudaHostUnregister(&grid));
    check(cudaFreeHost(mapped));
    cudaDeviceProp p;
    check(cudaGetDeviceProperties(&p, 0));
    check(cudaDeviceReset());
    return blocks + p.maxTexture3D[2] + p.pciBusID + (p.textureAlignment > 0);
}
