// A grid-stride loop in both directions: usual where pictures may have more rows than a grid may have blocks along y.
#include "grids.cuh"

struct Image {
    const unsigned char* rgb;
    unsigned char* gray;
    int width, height;
};

__global__ void convert(Image im) {
    for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < im.height; row += blockDim.y * gridDim.y)
        for (int col = blockIdx.x * blockDim.x + threadIdx.x; col < im.width; col += blockDim.x * gridDim.x) {
            const int at = row * im.width + col;
            const float r = im.rgb[3 * at + 0];
            const float g = im.rgb[3 * at + 1];
            const float b = im.rgb[3 * at + 2];
            im.gray[at] = static_cast<unsigned char>(0.21f * r + 0.72f * g + 0.07f * b);
        }
}

void color_to_grayscale(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    if (width == 0 || height == 0) return;
    const dim3 block(16, 16);
    const dim3 grid(min(ceil_div(width, 16), 4096), min(ceil_div(height, 16), 4096));
    convert<<<grid, block>>>(Image{rgb, gray, width, height});
    check(cudaGetLastError());
}
