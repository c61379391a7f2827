// 03 Blur: a thread per pixel that reads a whole patch of the picture. Mirrors PMPP-grids 3.3.
// Changed from 02: an output depends on (2s + 1)² inputs, and at the edges of the picture on
// fewer. The mean is over the pixels that are really there, 4 in a corner and 6 at an edge for
// s = 1.
#include "grids.cuh"

constexpr int block = 16;  // threads per side

__global__ void mean(const unsigned char* in, unsigned char* out, int width, int height, int blur_size) {
    // kata: begin
    // Sum up the pixels of the patch around this one that lie in the picture, count them, and divide. Sum
    // in an int: bytes overflow.
    kata::open();
    // kata: end
}

void blur(const unsigned char* in, unsigned char* out, int width, int height, int blur_size) {
    // kata: begin
    // As in 02: two-dimensional blocks that cover the picture, and the check. For an empty picture launch
    // nothing.
    kata::open();
    // kata: end
}
