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
    // Thread i takes the pixels from wide * i on. If there are 16 of them, their colours are 48 bytes: load
    // them as three Bytes, with reinterpret_cast on `rgb`. Copy these, because each byte might be a load of
    // its own through a reference. Byte b of the 48, in the order of memory, is colours[b / 16].at[b % 16];
    // a pixel has three. Store the results as one Bytes. If fewer pixels are left, take them one by one, as
    // in 02.
    kata::open();
    // kata: end
}

void color_to_grayscale(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    // kata: begin
    // One row of blocks, with a thread for every 16 pixels, rounded up.
    // Also required: any width and height from 0 on.
    kata::open();
    // kata: end
}
