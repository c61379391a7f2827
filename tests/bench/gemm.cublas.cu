// cuBLAS under the names of the chapter's functions: floats in single precision throughout, because cuBLAS
// uses no TF32 by default, and bfloat16 with sums and C in float.
#include "gemm.hpp"
#include "kata.hpp"

#include <cublas_v2.h>

static void check(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS) kata::check(cudaErrorUnknown);
}

extern "C" [[gnu::visibility("default")]] GemmBf16 gemm_bf16;

static cublasHandle_t handle() {
    static const cublasHandle_t made = [] {
        cublasHandle_t created{};
        check(cublasCreate(&created));
        return created;
    }();
    return made;
}

static const float one = 1, zero = 0;

// cuBLAS is column-major where the chapter is row-major: it reads these arrays as the transposed matrices.

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    check(cublasSgemm(handle(), CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, n, a, k, &zero, c, n));
}

void gemm_bf16(const matrices::Bf16* a, const matrices::Bf16* b, float* c, int m, int n, int k) {
    check(cublasGemmEx(handle(), CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, CUDA_R_16BF, n, a, CUDA_R_16BF,
                       k, &zero, c, CUDA_R_32F, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}
