// A one-dimensional grid, with row and column by division: usual after a course that begins with vectors.
#include "grids.cuh"

__global__ void blurKernel(const unsigned char* in, unsigned char* out, int w, int h, int blurSize) {
    const long long tid = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (tid >= (long long)w * h) return;
    const int row = tid / w;
    const int col = tid % w;
    int pixVal = 0;
    int pixels = 0;
    for (int dy = -blurSize; dy < blurSize + 1; ++dy) {
        const int curRow = row + dy;
        if (curRow < 0 || curRow >= h) continue;
        for (int dx = -blurSize; dx < blurSize + 1; ++dx) {
            const int curCol = col + dx;
            if (curCol > -1 && curCol < w) {
                pixVal += in[curRow * w + curCol];
                pixels++;
            }
        }
    }
    out[tid] = (unsigned char)(pixVal / pixels);
}

void blur(const unsigned char* in, unsigned char* out, int w, int h, int blurSize) {
    const int total = w * h;
    if (total == 0) return;
    blurKernel<<<(total - 1) / 512 + 1, 512>>>(in, out, w, h, blurSize);
    check(cudaPeekAtLastError());
}
