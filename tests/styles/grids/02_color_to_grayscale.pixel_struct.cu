// A pixel is a uchar3 and the picture a row of pixels, with a thread for each, in one dimension: usual after
// OpenCV or thrust.
#include "grids.cuh"

typedef unsigned char uchar;

__global__ void toGray(const uchar3* pixels, uchar* gray, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        uchar3 p = pixels[i];
        float channel = 0.21f * p.x + 0.72f * p.y + 0.07f * p.z;
        gray[i] = channel;
    }
}

void color_to_grayscale(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    const int count = width * height;
    if (count == 0) return;
    const int numThreads = 256, numBlocks = (count + numThreads - 1) / numThreads;
    toGray<<<numBlocks, numThreads>>>((const uchar3*)rgb, gray, count);
    check(cudaGetLastError());
}
