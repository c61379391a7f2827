// 02 Color to grayscale: a two-dimensional grid, a thread per pixel. Mirrors PMPP-grids 3.2.
// Changed from 01: threads are numbered in two directions and flattened to row-major indices, x
// to columns and y to rows, so that the threads of a warp touch neighbouring pixels. A colour pixel
// is three bytes, a gray one is one.
#include "grids.cuh"

constexpr int block = 16;  // threads per side

__global__ void to_grayscale(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    // kata: begin
    // Column from the x members, row from the y members, and the guard in both directions. The gray pixel
    // is at row * width + col, its three bytes of colour begin at three times that. 0.21 red + 0.72 green
    // + 0.07 blue.
    kata::open();
    // kata: end
}

void color_to_grayscale(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    // kata: begin
    // Two-dimensional blocks of block x block threads: a dim3 each for the grid, blocks along x and along
    // y, and for the block. For an empty picture launch nothing.
    kata::open();
    // kata: end
}
