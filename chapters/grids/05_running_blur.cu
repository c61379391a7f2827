// 05 Running blur: a thread marches down 16 columns and keeps the sums of their patches: it adds the row that
// enters them, and takes off the one that leaves. Beyond the document; NVIDIA's sample boxFilter has the
// idea. Changed from 03: what a pixel costs no longer depends on the size of its patch. Along the row a
// sum is a running one, too: from one pixel to the next a patch gains a column and loses one. Rows whose
// length is not a multiple of 16 are loaded and stored byte by byte.
#include "fixed_size.cuh"

constexpr int block = 32;   // threads, side by side
constexpr int strip = 128;  // rows of a block
constexpr int wide = 16;    // columns of a thread, and more than a patch reaches to either side

/// Pixels of a row, four in a word: from 16 columns before the thread's own to 16 behind them.
struct Row {
    unsigned word[3 * wide / 4];
};

/// Returns a row's pixels around the thread's columns, which begin at `col`; 0 outside of the picture.
template <bool aligned>
__device__ Row load_row(const unsigned char* in, int row, int col, int width, int height) {
    Row result = {};
    if (row < 0 || row >= height) return result;
    for (int i = 0; i < 3; ++i) {
        const int x = col + (i - 1) * wide;
        if constexpr (aligned) {  // 16 pixels at once: all exist or none
            if (x < 0 || x >= width) continue;
            const uint4 v = *reinterpret_cast<const uint4*>(&in[row * width + x]);
            result.word[4 * i] = v.x, result.word[4 * i + 1] = v.y;
            result.word[4 * i + 2] = v.z, result.word[4 * i + 3] = v.w;
        } else {
            for (int j = 0; j < wide; ++j)
                if (x + j >= 0 && x + j < width)
                    result.word[4 * i + j / 4] |= in[row * width + x + j] << (j % 4 * 8);
        }
    }
    return result;
}

/// Stores 16 means, four in a word, at `col` and behind it.
template <bool aligned>
__device__ void store_row(unsigned char* out, int row, int col, int width, const unsigned (&word)[wide / 4]) {
    if constexpr (aligned) {
        *reinterpret_cast<uint4*>(&out[row * width + col]) = make_uint4(word[0], word[1], word[2], word[3]);
    } else {
        for (int s = 0; s < wide; ++s)
            if (col + s < width) out[row * width + col + s] = word[s / 4] >> (s % 4 * 8);
    }
}

/// sum + pixel i of the row, of 3 * wide. One instruction: the four bytes of a word, times 1 or 0 each.
__device__ unsigned plus_pixel(const Row& row, int i, unsigned sum) {
    return __dp4a(row.word[i / 4], 1u << (i % 4 * 8), sum);
}

/// The sum of the pixels that belong to the patches of the thread's first column.
template <int size>
__device__ unsigned sum_around_first(const Row& row) {
    unsigned sum = 0;
    for (int i = 0; i < 3 * wide / 4; ++i) {
        unsigned ones = 0;  // a 1 for each byte of the word that is in the patch; known at compile time
        for (int j = 0; j < 4; ++j)
            if (4 * i + j >= wide - size && 4 * i + j <= wide + size) ones |= 1u << (j * 8);
        if (ones != 0) sum = __dp4a(row.word[i], ones, sum);
    }
    return sum;
}

// A block is one warp, and an H100's multiprocessor takes 32 blocks at most. For 32 to fit, a thread may have
// 65536 / (32 * 32) = 64 registers.
template <int size, bool aligned>
__global__ void __launch_bounds__(block, 32)
    running_blur(const unsigned char* __restrict__ in, unsigned char* __restrict__ out, int width,
                 int height) {
    // kata: begin
    // The thread has the columns from `col` to col + wide - 1, and a block a strip of rows. It keeps `wide`
    // sums, of the patch around each of its pixels, 0 at first, and marches down the rows of the picture
    // that the strip's patches need: `size` above the strip, the strip, `size` below. In each round a row
    // enters all of the patches, and the one 2 * size + 1 above it leaves them, if it has entered.
    // sum_around_first is what the first pixel's sum gains from the one and loses to the other. For each
    // further pixel, plus_pixel adds the column that enters its patch on the right, and takes off, by adding
    // to the other of the two numbers, the one that leaves it on the left. When all rows of a patch have
    // come, the row `size` above has its means: divide by the pixels that lie in the picture, rows times
    // columns. Four means make a word.
    kata::open();
    // kata: end
}

template <int size>
void blur(const unsigned char* in, unsigned char* out, int width, int height) {
    // kata: begin
    // A block has `block` threads side by side, each with `wide` columns, and `strip` rows.
    // running_blur<size, true> where every row of the picture begins at a multiple of `wide` bytes,
    // running_blur<size, false> elsewhere.
    // Also required: any width and height from 0 on: some threads have no column of the picture.
    kata::open();
    // kata: end
}
