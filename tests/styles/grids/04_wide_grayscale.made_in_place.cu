// Words are constructed where they are stored, in braces and without the name of their type: usual in C++.
#include "grids.cuh"

__device__ unsigned char gray_of(uchar3 p) { return (unsigned char)(0.21f * p.x + 0.72f * p.y + 0.07f * p.z); }

__global__ void four_to_a_thread(const uchar4* rgb, uchar4* gray, int words) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words) return;
    const uchar4 a = rgb[3 * i], b = rgb[3 * i + 1], c = rgb[3 * i + 2];
    gray[i] = {gray_of({a.x, a.y, a.z}), gray_of({a.w, b.x, b.y}), gray_of({b.z, b.w, c.x}),
               gray_of({c.y, c.z, c.w})};
}

__global__ void what_is_left(const unsigned char* rgb, unsigned char* gray, int first, int pixels) {
    const int i = first + threadIdx.x;
    if (i < pixels) gray[i] = gray_of({rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]});
}

void color_to_grayscale(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    const int pixels = width * height, words = pixels / 4;
    if (words > 0)
        four_to_a_thread<<<ceil_div(words, 256), 256>>>(reinterpret_cast<const uchar4*>(rgb),
                                                        reinterpret_cast<uchar4*>(gray), words);
    if (4 * words < pixels) what_is_left<<<1, 4>>>(rgb, gray, 4 * words, pixels);
    check(cudaGetLastError());
}
