// One thread for each column, with a sum that runs down. Across the row, the sums of a patch's columns come
// from shared memory. The size is known at run time. Usual where one kernel serves box filters of any size.
#include "grids.cuh"

constexpr int COLS = 128, ROWS = 64, MAX = grids::max_blur_size;

__global__ void box(const unsigned char* in, unsigned char* out, int w, int h, int s) {
    __shared__ int column[COLS + 2 * MAX];
    const int x0 = blockIdx.x * COLS, y0 = blockIdx.y * ROWS;
    int acc[2] = {0, 0};
    for (int y = y0 - s; y < min(y0 + ROWS, h) + s; y++) {
        const int gone = y - 2 * s - 1;
#pragma unroll
        for (int k = 0; k < 2; k++) {
            const int i = threadIdx.x + k * COLS, x = x0 - s + i;
            if (i >= COLS + 2 * s) continue;
            if (x >= 0 && x < w) {
                if (y >= 0 && y < h) acc[k] += in[y * w + x];
                if (gone >= y0 - s && gone >= 0) acc[k] -= in[gone * w + x];
            }
            column[i] = acc[k];
        }
        __syncthreads();
        const int x = x0 + threadIdx.x, row = y - s;
        if (row >= y0 && x < w) {
            int sum = 0;
            for (int i = 0; i <= 2 * s; i++) sum += column[threadIdx.x + i];
            const int rows = min(row + s, h - 1) - max(row - s, 0) + 1;
            const int cols = min(x + s, w - 1) - max(x - s, 0) + 1;
            out[row * w + x] = (unsigned char)(sum / (rows * cols));
        }
        __syncthreads();
    }
}

void blur(const unsigned char* in, unsigned char* out, int width, int height, int blur_size) {
    if (width == 0 || height == 0) return;
    box<<<dim3(ceil_div(width, COLS), ceil_div(height, ROWS)), COLS>>>(in, out, width, height, blur_size);
    check(cudaGetLastError());
}
