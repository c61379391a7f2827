// The patch of a whole block in dynamic shared memory, halo included: usual after the next chapter.
#include "grids.cuh"

#define TILE 16

__global__ void blurTiled(const unsigned char* in, unsigned char* out, int width, int height, int r) {
    extern __shared__ unsigned char patch[];
    const int side = TILE + 2 * r;
    const int left = blockIdx.x * TILE - r, top = blockIdx.y * TILE - r;
    for (int y = threadIdx.y; y < side; y += TILE)
        for (int x = threadIdx.x; x < side; x += TILE) {
            const int gx = left + x, gy = top + y;
            const bool there = gx >= 0 && gx < width && gy >= 0 && gy < height;
            patch[y * side + x] = there ? in[gy * width + gx] : 0;
        }
    __syncthreads();

    const int col = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
    if (col < width && row < height) {
        int sum = 0;
        for (int y = 0; y <= 2 * r; ++y)
            for (int x = 0; x <= 2 * r; ++x) sum += patch[(threadIdx.y + y) * side + threadIdx.x + x];
        const int wide = min(col + r, width - 1) - max(col - r, 0) + 1;
        const int high = min(row + r, height - 1) - max(row - r, 0) + 1;
        out[row * width + col] = sum / (wide * high);
    }
}

void blur(const unsigned char* in, unsigned char* out, int width, int height, int blur_size) {
    if (width == 0 || height == 0) return;
    const int side = TILE + 2 * blur_size;
    dim3 grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE), block(TILE, TILE);
    blurTiled<<<grid, block, side * side>>>(in, out, width, height, blur_size);
    check(cudaGetLastError());
}
