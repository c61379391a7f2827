// cuBLAS under the chapter's function, in single precision throughout: without being asked, it takes no TF32.
#include "gemm.hpp"
#include "kata.hpp"

#include <cublas_v2.h>

static void check(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS) kata::check(cudaErrorUnknown);
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    static const cublasHandle_t handle = [] {
        cublasHandle_t made{};
        check(cublasCreate(&made));
        return made;
    }();
    const float one = 1, zero = 0;
    // cuBLAS has columns where the chapter has rows: what it takes for the transposed matrices are these.
    check(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, n, a, k, &zero, c, n));
}
