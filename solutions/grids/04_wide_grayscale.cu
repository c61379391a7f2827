// 04 Wide grayscale: a thread takes 16 pixels, in three loads of 16 bytes and one store. Beyond the
// documents. Changed from 02: four instructions that reach memory serve 16 pixels instead of one, so that a
// thread has 48 bytes in flight at once; and a warp reaches one long stretch of the picture instead of two
// short ones. The grid is a line again: where a row ends makes no difference to a pixel.
#include "grids.cuh"

constexpr int block = 128;  // threads
constexpr int wide = 16;    // pixels of a thread

/// As many bytes as one load or store takes. The alignment makes it one instruction.
struct alignas(16) Bytes {
    unsigned char at[16];
};

__device__ unsigned char luminance(unsigned char r, unsigned char g, unsigned char b) {
    return static_cast<unsigned char>(0.21f * r + 0.72f * g + 0.07f * b);  // as in 02
}

__global__ void wide_grayscale(const unsigned char* rgb, unsigned char* gray, int pixels) {
    // kata: begin
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int first = wide * i;  // the first of the thread's pixels
    if (first + wide <= pixels) {
        // The colours of 16 pixels are 48 bytes, so that those of each thread begin at a multiple of 16.
        const Bytes* const from = reinterpret_cast<const Bytes*>(rgb) + 3 * i;
        const Bytes colours[3] = {from[0], from[1], from[2]};
        const auto byte = [&](int b) { return colours[b / 16].at[b % 16]; };
        Bytes result;
        for (int p = 0; p < wide; ++p)
            result.at[p] = luminance(byte(3 * p), byte(3 * p + 1), byte(3 * p + 2));
        reinterpret_cast<Bytes*>(gray)[i] = result;
    } else {
        // Up to 15 pixels at the end fill no store.
        for (int p = first; p < pixels; ++p) gray[p] = luminance(rgb[3 * p], rgb[3 * p + 1], rgb[3 * p + 2]);
    }
    // kata: end
}

void color_to_grayscale(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    // kata: begin
    const int pixels = width * height;
    if (pixels == 0) return;
    wide_grayscale<<<ceil_div(pixels, wide * block), block>>>(rgb, gray, pixels);
    check(cudaGetLastError());
    // kata: end
}
