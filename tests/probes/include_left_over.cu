// Headers of libraries, of NVIDIA's samples and of cuda::std, some of them not used.
#include "kata.hpp"

#include <cublas_v2.h>
#include <cuda/std/array>
#include <cuda/std/cmath>
#include <cuda/std/cstdint>
#include <cuda/std/limits>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
#include <cuda_profiler_api.h>
#include <curand.h>
#include <curand_kernel.h>
#include <helper_cuda.h>
#include <helper_functions.h>
#include <thrust/device_vector.h>

__global__ void k(float* out, cuda::std::array<float, 3> given) {
    cuda::std::array<float, 4> four{1, 2};
    four.fill(four.size());
    four[2] = cuda::std::numeric_limits<float>::infinity();
    cuda::std::swap(four[0], given.front());
    for (const float& x : four) out[0] += cuda::std::sqrt(x);
    out[1] = static_cast<cuda::std::conditional_t<true, float, int>>(cuda::std::uint32_t{3});
    out[2] = cuda::std::numeric_limits<int>::max();
}
void f(int n) {
    cuda::std::array<float, 3> given{1, 2, 3};
    float* out;
    checkCudaErrors(cudaMallocManaged(&out, n * sizeof(float)));
    for (int i = 0; i < n; ++i) out[i] = given[i % 3];
    k<<<1, 2>>>(out, given);
    getLastCudaError("k");
    checkCudaErrors(cudaDeviceSynchronize());
    given[0] = out[0];
    checkCudaErrors(cudaFree(out));
}
