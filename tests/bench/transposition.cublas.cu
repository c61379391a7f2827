// cuBLAS under the name of the chapter's function: a sum of two scaled matrices, either of which may be
// transposed. The second one is scaled by 0, and is not read.
#include "kata.hpp"
#include "transposition.hpp"

#include <cublas_v2.h>

static void check(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS) kata::check(cudaErrorUnknown);
}

static cublasHandle_t handle() {
    static const cublasHandle_t made = [] {
        cublasHandle_t created{};
        check(cublasCreate(&created));
        return created;
    }();
    return made;
}

static const float one = 1, zero = 0;

// cuBLAS is column-major where the chapter is row-major: it reads `in` as a matrix of `columns` rows.
void transpose(const float* in, float* out, int rows, int columns) {
    check(cublasSgeam(handle(), CUBLAS_OP_T, CUBLAS_OP_N, rows, columns, &one, in, columns, &zero, out, rows,
                      out, rows));
}
