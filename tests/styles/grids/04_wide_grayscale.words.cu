// unsigned words unpacked by shifts, and a second kernel for the remaining pixels: usual where there is no
// vector type for the data.
#include "grids.cuh"

__device__ unsigned int gray_of(unsigned int r, unsigned int g, unsigned int b) {
    return (unsigned int)(0.21f * r + 0.72f * g + 0.07f * b);
}

__global__ void quads(const unsigned int* rgb, unsigned int* gray, int n4) {
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i >= n4) return;
    unsigned int a = rgb[i * 3], b = rgb[i * 3 + 1], c = rgb[i * 3 + 2];
    unsigned int g0 = gray_of(a & 255, (a >> 8) & 255, (a >> 16) & 255);
    unsigned int g1 = gray_of(a >> 24, b & 255, (b >> 8) & 255);
    unsigned int g2 = gray_of((b >> 16) & 255, b >> 24, c & 255);
    unsigned int g3 = gray_of((c >> 8) & 255, (c >> 16) & 255, c >> 24);
    gray[i] = g0 | (g1 << 8) | (g2 << 16) | (g3 << 24);
}

__global__ void rest(const unsigned char* rgb, unsigned char* gray, int from, int n) {
    int i = from + threadIdx.x;
    if (i < n) gray[i] = (unsigned char)gray_of(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]);
}

void color_to_grayscale(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    int n = width * height, n4 = n / 4;
    if (n4 > 0) quads<<<(n4 + 255) / 256, 256>>>((const unsigned int*)rgb, (unsigned int*)gray, n4);
    if (n % 4 > 0) rest<<<1, 4>>>(rgb, gray, n4 * 4, n);
    check(cudaGetLastError());
}
