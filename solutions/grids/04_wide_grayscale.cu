// 04 Wide grayscale: a thread takes four pixels, loads their colours as three words and stores them as one.
// Beyond the documents. Changed from 02: a word is four bytes, so that four instructions serve four pixels
// instead of one, and a warp reaches one long stretch of the picture instead of two short ones.
// The grid is a line again: where a row ends makes no difference to a pixel.
#include "grids.cuh"

constexpr int block = 128;  // threads
constexpr int wide = 4;     // pixels of a thread

__device__ unsigned char luminance(unsigned char r, unsigned char g, unsigned char b) {
    return static_cast<unsigned char>(0.21f * r + 0.72f * g + 0.07f * b);  // as in 02
}

__global__ void wide_grayscale(const unsigned char* rgb, unsigned char* gray, int pixels) {
    // kata: begin
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int first = wide * i;  // of the thread's pixels
    if (first + wide <= pixels) {
        // uchar4 is four bytes that are loaded and stored as one. Four pixels are 12 bytes, so that each
        // thread's begin at a multiple of four, and so do its four bytes of gray.
        const uchar4* words = reinterpret_cast<const uchar4*>(rgb) + 3 * i;
        const uchar4 u = words[0], v = words[1], w = words[2];  // rgbr gbrg brgb
        reinterpret_cast<uchar4*>(gray)[i] = make_uchar4(luminance(u.x, u.y, u.z), luminance(u.w, v.x, v.y),
                                                         luminance(v.z, v.w, w.x), luminance(w.y, w.z, w.w));
    } else {
        // Up to three pixels at the end fill no word.
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
