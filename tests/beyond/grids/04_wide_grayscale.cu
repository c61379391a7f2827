// 04 Wide grayscale: a thread takes four pixels, three words of colour, and stores them as one word.
//
// Changed against 02: of the bytes that a load or a store moves for a warp, all are used, and there are four
// pixels to four instructions instead of one. The grid is a line: where a row ends makes no difference to a
// pixel, and so the width may be any. NVIDIA H100 80GB HBM3, 16384²: 0.856 → 0.368 ms, 0.98 of a copy of as
// many bytes. 16 pixels a thread: 0.351 ms, 1.03.
#include "grids.cuh"

#include <cstdint>

constexpr int block = 128;  // threads

__device__ unsigned char luminance(unsigned char r, unsigned char g, unsigned char b) {
    return static_cast<unsigned char>(0.21f * r + 0.72f * g + 0.07f * b);
}

__global__ void wide_grayscale(const unsigned char* rgb, unsigned char* gray, int pixels) {
    // A picture is one long row: where a row ends makes no difference to a pixel.
    const int i = blockIdx.x * block + threadIdx.x;
    if (4 * i + 3 < pixels) {
        const auto words = reinterpret_cast<const uchar4*>(rgb) + 3 * i;
        const uchar4 u = words[0], v = words[1], w = words[2];
        reinterpret_cast<uchar4*>(gray)[i] = make_uchar4(luminance(u.x, u.y, u.z), luminance(u.w, v.x, v.y),
                                                         luminance(v.z, v.w, w.x), luminance(w.y, w.z, w.w));
    } else {
        for (int p = 4 * i; p < pixels; ++p) gray[p] = luminance(rgb[3 * p], rgb[3 * p + 1], rgb[3 * p + 2]);
    }
}

void color_to_grayscale(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    const int pixels = width * height;
    if (pixels == 0) return;  // a grid without blocks cannot be launched
    wide_grayscale<<<ceil_div(pixels, 4 * block), block>>>(rgb, gray, pixels);
    check(cudaGetLastError());
}
