// The window is clipped to the picture before the loops, and the number of its pixels is a product: usual
// where ifs are avoided.
#include "grids.cuh"

__global__ void boxBlur(const unsigned char* src, unsigned char* dst, int w, int h, int s) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;

    const int x0 = max(x - s, 0), x1 = min(x + s, w - 1);
    const int y0 = max(y - s, 0), y1 = min(y + s, h - 1);
    unsigned int sum = 0;
    for (int j = y0; j <= y1; j++)
        for (int i = x0; i <= x1; i++) sum += src[j * w + i];
    dst[y * w + x] = sum / ((x1 - x0 + 1) * (y1 - y0 + 1));
}

void blur(const unsigned char* in, unsigned char* out, int width, int height, int blur_size) {
    if (width == 0 || height == 0) return;
    dim3 threadsPerBlock(32, 32);
    dim3 numBlocks((width + 31) / 32, (height + 31) / 32);
    boxBlur<<<numBlocks, threadsPerBlock>>>(in, out, width, height, blur_size);
    check(cudaGetLastError());
}
