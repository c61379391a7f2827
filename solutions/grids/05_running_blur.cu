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
    const int col = (blockIdx.x * block + threadIdx.x) * wide;
    const int first = blockIdx.y * strip, last = min(first + strip, height);
    if (col >= width) return;

    // The patch of a column to the right of the picture may have no column in it: the 1 prevents a division
    // by zero.
    float per_col[wide];  // one over the number of the patch's columns in the picture
    for (int s = 0; s < wide; ++s)
        per_col[s] = 1.0f / max(min(col + s + size, width - 1) - max(col + s - size, 0) + 1, 1);
    int sum[wide] = {};  // the sum of the patch around each of the thread's pixels
    // Rows above the strip enter before its first mean. `row` enters the patches of row y = row - size, whose
    // last row it is.
    for (int row = first - size; row < last + size; ++row) {
        // The row that enters the patches of row y, and the one that leaves them, if it has ever entered.
        const int y = row - size, leaving = y - size - 1;
        const Row fresh = load_row<aligned>(in, row, col, width, height);
        const Row old = leaving >= first - size ? load_row<aligned>(in, leaving, col, width, height) : Row{};
        // The first pixel's patch gains `plus` and loses `minus`. For each next pixel, a column enters from
        // the right and one leaves to the left, in both rows.
        unsigned plus = sum_around_first<size>(fresh), minus = sum_around_first<size>(old);
        for (int s = 0; s < wide; ++s) {
            // Unsigned numbers wrap, so this is right even if `minus` is larger.
            sum[s] += plus - minus;
            if (s == wide - 1) break;
            // __dp4a only adds. So a pixel of the entering row that leaves the patch is added to `minus`, and
            // one of the old row to `plus`. A row begins 16 columns before the thread's own, so column s of
            // the thread is pixel wide + s.
            plus = plus_pixel(fresh, wide + s + size + 1, plus_pixel(old, wide + s - size, plus));
            minus = plus_pixel(old, wide + s + size + 1, plus_pixel(fresh, wide + s - size, minus));
        }
        if (y < first) continue;  // the patches are not complete yet

        const float per_row = 1.0f / (min(y + size, height - 1) - max(y - size, 0) + 1);
        unsigned word[wide / 4] = {};
        for (int s = 0; s < wide; ++s) {
            // A product instead of a division, and half a pixel more: a mean that is a whole number must not
            // fall below it by rounding.
            const unsigned mean = (sum[s] + 0.5f) * (per_col[s] * per_row);
            word[s / 4] |= mean << (s % 4 * 8);
        }
        store_row<aligned>(out, y, col, width, word);
    }
    // kata: end
}

template <int size>
void blur(const unsigned char* in, unsigned char* out, int width, int height) {
    // kata: begin
    if (width == 0 || height == 0) return;
    const dim3 grid(ceil_div(width, block * wide), ceil_div(height, strip));
    // Only if the width is a multiple of 16 does every row begin at a multiple of 16 bytes.
    const auto kernel = width % wide == 0 ? running_blur<size, true> : running_blur<size, false>;
    kernel<<<grid, block>>>(in, out, width, height);
    check(cudaGetLastError());
    // kata: end
}
