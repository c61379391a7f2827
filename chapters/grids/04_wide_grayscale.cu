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
    // Thread i takes the pixels from wide * i on. If there are four of them, their colours are 12 bytes:
    // three uchar4, which reinterpret_cast makes of `rgb`, each loaded at once. uchar4 has the members x, y,
    // z and w, and make_uchar4(x, y, z, w) makes one, to be stored at once as well. If fewer are left, take
    // them one by one, as in 02.
    kata::open();
    // kata: end
}

void color_to_grayscale(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    // kata: begin
    // One row of blocks, for as many threads as there are fours of pixels, rounded up.
    kata::open();
    // kata: end
}
