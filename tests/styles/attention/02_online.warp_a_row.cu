// A warp for each row, four of them in a block, shuffles instead of shared memory, and a grid-stride loop over the
// rows; the difference of the maxima decides which sum is multiplied. Usual in libraries, where rows are short.
#include "softmax.cuh"

#define WARPS 4

__global__ void softmaxWarp(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
    int lane = threadIdx.x & 31;
    for (int row = blockIdx.x * WARPS + threadIdx.x / 32; row < rows; row += gridDim.x * WARPS) {
        const float* xr = x + (size_t)row * cols;
        float* yr = y + (size_t)row * cols;
        float m = -FLT_MAX, d = 0.0f;
        for (int j = lane; j < cols; j += 32) {
            float v = xr[j];
            if (v > m) {
                d = d * __expf(m - v) + 1.0f;
                m = v;
            } else {
                d += __expf(v - m);
            }
        }
        for (int offset = 16; offset > 0; offset >>= 1) {
            float om = __shfl_xor_sync(0xffffffff, m, offset);
            float od = __shfl_xor_sync(0xffffffff, d, offset);
            float nm = fmaxf(m, om);
            d = d * __expf(m - nm) + od * __expf(om - nm);
            m = nm;
        }
        float scale = 1.0f / d;
        for (int j = lane; j < cols; j += 32) yr[j] = __expf(xr[j] - m) * scale;
    }
}

void softmax(const float* in, float* out, int rows, int columns) {
    if (rows == 0 || columns == 0) return;
    softmaxWarp<<<ceil_div(rows, WARPS), WARPS * 32>>>(in, out, rows, columns);
    check(cudaGetLastError());
}
