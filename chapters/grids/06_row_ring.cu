// 06 Row ring: a warp marches down 448 columns, and the rows of its patches stay in shared memory.
// Beyond the document. Changed from 05: a pixel is read from global memory once. A row goes into a ring in
// shared memory, from where it enters the sums and later leaves them. Asynchronous copies bring the next
// rows meanwhile. A thread sums up only its own 16 columns, two sums in a word, and gets those beside them
// from its neighbours in the warp (shuffles). The mean is one operation.
//
// Needs: sm_80
#include "fixed_size.cuh"

#include <cuda_pipeline.h>

constexpr int block = 64;                 // threads: two warps, side by side
constexpr int results = 28;               // lanes of a warp with means to store, 448 bytes: seven times 64
constexpr int idle = (32 - results) / 2;  // lanes at either end; the inner one sums up for its neighbour
constexpr int wide = 16;                  // columns of a thread, and more than a patch reaches to either side

/// The rows in flight to the ring. Strips of small patches are low, and begin sooner with fewer.
template <int size>
constexpr int ahead = size < 3 ? 4 : 6;

/// A thread's pixels of a row, four in a word.
struct alignas(wide) Row {
    unsigned word[wide / 4];
};

/// Sums of columns, two in a word: columns 0 and 2, 1 and 3, 4 and 6, and so on, because one instruction then
/// takes two of the four pixels of a word. The thread's own columns are 16 to 31. The 16 columns before them
/// and the 16 behind them are here, too.
struct Columns {
    unsigned word[3 * wide / 2];
};
__host__ __device__ constexpr int word_of(int column) { return column / 4 * 2 + column % 2; }
__host__ __device__ constexpr int half_of(int column) { return column / 2 % 2; }

/// Returns the 16 bytes that begin `by` bytes after the thread's first one; the next lane has the last `by`.
__device__ Row shifted(const Row& own, int by) {
    unsigned word[2 * wide / 4];
    for (int i = 0; i < 4; ++i) {
        word[i] = own.word[i];
        word[4 + i] = __shfl_down_sync(0xffffffff, own.word[i], 1);
    }
    // Shifts by two words or not, then by one or not, then by the bytes that are left. No index depends on
    // `by`, so the words can stay in registers. __funnelshift_r takes 32 bits out of two words.
    for (int words = 2; words > 0; --words)
        for (int i = 0; i < 4 + words; ++i) {
            const unsigned here = word[i], further = word[i + words];
            word[i] = by & 4 * words ? further : here;
        }
    Row result;
    for (int i = 0; i < 4; ++i) result.word[i] = __funnelshift_r(word[i], word[i + 1], by % 4 * 8);
    return result;
}

/// The bytes of a row's 16 columns from `col` on that are in the picture: 255 in each.
__device__ Row inside_of(int col, int width) {
    Row mask = {};
    for (int i = 0; i < wide / 4; ++i) {
        const int bytes = col < 0 ? 0 : min(max(width - col - 4 * i, 0), 4);
        mask.word[i] = bytes == 4 ? 0xffffffff : (1u << 8 * bytes) - 1;
    }
    return mask;
}

/// Begins to copy a row to its place in the ring: the aligned 16 bytes in which the thread's first pixel
/// lies, with 0 outside of the picture.
template <bool aligned>
__device__ void begin_copy(Row& to, const unsigned char* in, int row, int col, int width, int height,
                           int pixels) {
    if constexpr (aligned) {
        const bool inside = row >= 0 && row < height && col >= 0 && col < width;
        if (inside)
            __pipeline_memcpy_async(&to, &in[row * width + col], wide);
        else
            to = {};
    } else {
        const bool inside = row >= 0 && row < height && col >= 0 && col < width + wide;
        const int first = row * width / wide * wide + col;
        if (inside && first <= pixels - wide) {
            __pipeline_memcpy_async(&to, &in[first], wide);
        } else {
            to = {};
#pragma unroll 1  // few threads come here, where the picture ends within these 16 bytes
            for (int i = 0; inside && first + i < pixels; ++i) to.word[i / 4] |= in[first + i] << (i % 4 * 8);
        }
    }
}

/// Stores 16 means at `col` and behind it; those outside of the picture belong to another row.
template <bool aligned>
__device__ void store_row(unsigned char* out, int row, int col, int width, const Row& means) {
    if (aligned || (col >= 0 && col + wide <= width)) {
        *reinterpret_cast<Row*>(&out[row * width + col]) = means;
    } else {
        for (int i = 0; i < wide; ++i)
            if (col + i >= 0 && col + i < width)
                out[row * width + col + i] = means.word[i / 4] >> (i % 4 * 8);
    }
}

/// The row enters the sums of the thread's own columns, and the old one leaves them.
__device__ void march(Columns& columns, Row row, Row old) {
    for (int i = 0; i < wide / 4; ++i) {
        // Bytes 0 and 2 of the word, and bytes 1 and 3, with a 0 above each.
        unsigned* const own = &columns.word[wide / 2 + 2 * i];
        own[0] += __byte_perm(row.word[i], 0, 0x4240) - __byte_perm(old.word[i], 0, 0x4240);
        own[1] += __byte_perm(row.word[i], 0, 0x4341) - __byte_perm(old.word[i], 0, 0x4341);
    }
}

/// sum + two sums of a word, times 1, 0 or -1 each. One instruction.
__device__ int plus_columns(unsigned word, int first, int second, int sum) {
    return __dp2a_lo(static_cast<int>(word), (first & 0xff) | (second & 0xff) << 8, sum);
}

/// sum + the sum of one column, times 1 or -1.
__device__ int plus_column(const Columns& columns, int column, int sign, int sum) {
    const int half = half_of(column);
    return plus_columns(columns.word[word_of(column)], half == 0 ? sign : 0, half == 1 ? sign : 0, sum);
}

/// The sum of the columns that belong to the patch of the thread's first column.
template <int size>
__device__ int sum_around_first(const Columns& columns) {
    const auto in_patch = [](int column) { return column >= wide - size && column <= wide + size ? 1 : 0; };
    int sum = 0;
    for (int column = 0; column < 3 * wide; ++column)
        if (half_of(column) == 0 && in_patch(column) + in_patch(column + 2) > 0)
            sum = plus_columns(columns.word[word_of(column)], in_patch(column), in_patch(column + 2), sum);
    return sum;
}

/// One over the pixels of the patch around row y and column x that lie in the picture. A little more, so that
/// a mean that is a whole number does not fall below it by rounding: it never becomes one more, as a trial of
/// all sums of up to 31 x 31 pixels showed.
template <int size>
__device__ float share_of(int y, int x, int width, int height) {
    const int rows = min(y + size, height - 1) - max(y - size, 0) + 1;
    const int columns = min(x + size, width - 1) - max(x - size, 0) + 1;
    return __fdividef(1.000001f, max(rows * columns, 1));
}

/// sum · share, rounded down, in the lowest byte. From 2²³ on a float has no places after the point.
__device__ unsigned mean_of(int sum, float share) {
    return __float_as_uint(__fmaf_rz(static_cast<float>(sum), share, 8388608.0f));
}

/// Four means, each in the lowest byte of a word, in one word.
__device__ unsigned packed(const unsigned* mean) {
    return __byte_perm(__byte_perm(mean[0], mean[1], 0x0040), __byte_perm(mean[2], mean[3], 0x0040), 0x5410);
}

/// The rows of each block: first `tall` strips of `high` rows, and after them strips of `low` rows.
struct Strips {
    int tall, high, low;
    __host__ __device__ int first_row(int strip) const {
        return min(strip, tall) * high + max(strip - tall, 0) * low;
    }
};

template <int size>
constexpr int rows_of = 2 * size + 1 + ahead<size>;  // in the ring: those of a patch, and those in flight

template <int size, bool aligned>
__global__ void __launch_bounds__(block)
    row_ring(const unsigned char* __restrict__ in, unsigned char* __restrict__ out, int width, int height,
             Strips strips) {
    // kata: begin
    // A warp has 32 * wide columns, beginning so that `idle` lanes on either side have none of the `results`
    // * wide columns whose means it stores, and a strip of rows. The block's shared memory is a ring of
    // rows_of<size> rows, as the third number of the launch says, in which each thread has a place of its
    // own. Begin to copy the first `ahead` rows, a group each; the other places of the ring are 0 at first.
    // A row enters so: wait until at most ahead - 1 groups are in flight; the row that has arrived and the
    // one that leaves march into the sums of columns; the next row goes to the place of the one that has
    // left, as a group of its own, also where there are no more pixels. First enter the rows from `size`
    // above the strip to `size` - 1 below its first row. For each row of the strip, one more row enters.
    // Then take the neighbours' sums that patches reach, by shuffles, and go along the 16 columns with one
    // sum: a column enters, and one leaves. All lanes of a warp must come to a shuffle.
    // Where rows begin anywhere, begin_copy() brings 16 bytes from a multiple of 16 on, and a thread's
    // pixels begin as many bytes later as the row does: shift them before they enter, leave those out that
    // are not in the picture, and put them back into the ring for when they leave. Means are shifted
    // likewise, to the next multiple of 16 bytes. Which lanes have them all?
    kata::open();
    // kata: end
}

template <int size>
void blur(const unsigned char* in, unsigned char* out, int width, int height) {
    // kata: begin
    // row_ring<size, true> where every row of the picture begins at a multiple of `wide` bytes,
    // row_ring<size, false> elsewhere, where 16 bytes more in a row are stored. Its ring takes more than 48
    // KiB if the patch is large, so cudaFuncSetAttribute must allow it.
    // cudaOccupancyMaxActiveBlocksPerMultiprocessor says how many blocks run at a time: a small picture has
    // as many strips. Of a large one, how high should strips be? Begin with strips of one height, and try
    // two of them.
    // Also required: any width and height from 0 on; any number of multiprocessors.
    kata::open();
    // kata: end
}
