// Blocks of 32 x 8 threads, so that a warp is a row, and the luminance in a __device__ function: usual in image libraries.
#include "grids.cuh"

__device__ inline unsigned char luminance(unsigned char r, unsigned char g, unsigned char b)
{
    return (unsigned char)(0.21f * r + 0.72f * g + 0.07f * b);
}

__global__ void rgb2gray(const unsigned char * __restrict__ rgb, unsigned char * __restrict__ gray, int w, int h)
{
    int x = blockDim.x * blockIdx.x + threadIdx.x;
    int y = blockDim.y * blockIdx.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    const unsigned char *p = rgb + 3 * ((size_t)y * w + x);
    gray[(size_t)y * w + x] = luminance(p[0], p[1], p[2]);
}

void color_to_grayscale(const unsigned char *rgb, unsigned char *gray, int w, int h)
{
    if (w * h == 0)
        return;
    dim3 block(32, 8);
    dim3 grid((w + block.x - 1) / block.x, (h + block.y - 1) / block.y);
    rgb2gray<<<grid, block>>>(rgb, gray, w, h);
    check(cudaGetLastError());
}
