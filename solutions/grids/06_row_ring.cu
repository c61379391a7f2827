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
    extern __shared__ Row ring[];  // by rows; a thread has its own place in each, so that there is no barrier
    const auto place = [&](int i) -> Row& { return ring[i * block + threadIdx.x]; };
    const int lane = threadIdx.x % 32, warp = (blockIdx.x * block + threadIdx.x) / 32;
    if (warp * results * wide >= width + (aligned ? 0 : wide))
        return;  // a whole warp, because its lanes exchange sums
    const int col = (warp * results + lane - idle) * wide;
    const int first = strips.first_row(blockIdx.y), last = min(strips.first_row(blockIdx.y + 1), height);
    const int end = min(last + size, height);  // where the rows that the strip needs end
    const int pixels = width * height;
    // A row that is not aligned is still loaded and stored in aligned groups of 16 bytes. A group also has
    // pixels of the next lane. So a lane with results needs that lane's pixels, too.
    const int begin = aligned ? idle : idle - 1;
    const bool has_results = lane >= begin && lane < begin + results && col < width;
    const Row mask = inside_of(col, width);

    for (int i = 0; i < ahead<size>; ++i) {
        begin_copy<aligned>(place(i), in, first - size + i, col, width, end, pixels);
        __pipeline_commit();
    }
    for (int i = ahead<size>; i < rows_of<size>; ++i) place(i) = {};  // leaves before anything has entered

    Columns columns = {};
    // The ring has 2 * size + 1 + ahead places. The row that leaves lies 2 * size + 1 places behind the one
    // that enters. Around the ring, that is `ahead` places in front of it: the place that will be taken by
    // the row that enters `ahead` rows later.
    int entering = 0, leaving = ahead<size>;  // places in the ring
    const auto enter = [&](int row) {
        __pipeline_wait_prior(ahead<size> - 1);  // the oldest copy in flight has arrived
        Row row_of = place(entering);
        if constexpr (!aligned) {
            row_of = shifted(row_of, row * width & (wide - 1));
            for (int i = 0; i < wide / 4; ++i) row_of.word[i] &= mask.word[i];
            place(entering) = row_of;  // for when it leaves
        }
        march(columns, row_of, place(leaving));
        // The row that has left makes room. The order matters: march() reads the old row before its place is
        // filled.
        begin_copy<aligned>(place(leaving), in, row + ahead<size>, col, width, end, pixels);
        __pipeline_commit();
        entering = entering + 1 == rows_of<size> ? 0 : entering + 1;
        leaving = leaving + 1 == rows_of<size> ? 0 : leaving + 1;
    };
    for (int row = first - size; row < first + size; ++row) enter(row);  // no patch is complete yet

    const bool at_edge = col < size || col + wide + size > width;  // patches hang over on the left or right
    float share[wide];
    int changes = first;  // the next row with other shares: the first one, and where patches hang over
#pragma unroll 2
    for (int y = first; y < last; ++y) {
        enter(y + size);
        for (int column = 0; column < wide; ++column) {  // the neighbours' sums, as far as patches reach
            // A word has the sums of columns `column` and column + 2. The left neighbour's are needed if its
            // second one is in reach, the right neighbour's if its first one is. All lanes come, as each row
            // changes all sums.
            const int own = word_of(wide + column);
            if (half_of(column) == 1) continue;
            if (column + 2 >= wide - size)
                columns.word[word_of(column)] = __shfl_up_sync(0xffffffff, columns.word[own], 1);
            if (column < size)
                columns.word[word_of(2 * wide + column)] = __shfl_down_sync(0xffffffff, columns.word[own], 1);
        }
        // Shares depend on y only where patches hang over at the top or the bottom.
        if (y == changes) {
            const float inside = share_of<size>(y, size, width, height);
            for (int s = 0; s < wide; ++s) share[s] = inside;
            if (at_edge)
                for (int s = 0; s < wide; ++s) share[s] = share_of<size>(y, col + s, width, height);
            changes = y < size ? y + 1 : max(y + 1, height - size);
        }
        int sum = sum_around_first<size>(columns);
        unsigned mean[wide];
        for (int s = 0; s < wide; ++s) {
            mean[s] = mean_of(sum, share[s]);
            if (s == wide - 1) break;
            // One column further a column enters on the right, and one leaves on the left.
            sum = plus_column(columns, wide + s - size, -1, sum);
            sum = plus_column(columns, wide + s + size + 1, 1, sum);
        }
        Row means;
        for (int i = 0; i < wide / 4; ++i) means.word[i] = packed(&mean[4 * i]);
        const int by = aligned ? 0 : -(y * width) & (wide - 1);  // to the next multiple of 16
        if constexpr (!aligned) means = shifted(means, by);
        if (has_results) store_row<aligned>(out, y, col + by, width, means);
    }
    // kata: end
}

template <int size>
void blur(const unsigned char* in, unsigned char* out, int width, int height) {
    // kata: begin
    if (width == 0 || height == 0) return;
    // Only if the width is a multiple of 16 does every row begin at a multiple of 16 bytes.
    const bool aligned = width % wide == 0;
    const auto kernel = aligned ? row_ring<size, true> : row_ring<size, false>;
    constexpr int bytes = rows_of<size> * block * sizeof(Row);
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    // High strips sum up fewer rows around them. Low strips share these rows with the next strip while they
    // are still in the L2 cache, and the last block is done sooner when no other is left. So the larger the
    // patch, the more of the picture is in high strips, as many as run at once. The rest is in low ones,
    // which fill what is left of the GPU. A small picture has a strip for each block that fits.
    int device = 0, processors = 0, resident = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, block, bytes));
    const int across = ceil_div(aligned ? width : width + wide, block / 32 * results * wide);
    const int at_once = max(processors * resident / across, 1);
    const int even = ceil_div(height, at_once);        // rows of a strip, if all run at once
    const int least = (aligned ? 1 : 3) * (8 + size);  // a row that is shifted costs more to sum up
    Strips strips = {};
    strips.low = max(ceil_div(height, at_once * max(even / least, 1)), 8);
    strips.high = even * min(max(size - 3, 0), 8) / 8;
    if (strips.high > strips.low) strips.tall = min(at_once, ceil_div(height, strips.high));
    const int rest = max(height - strips.first_row(strips.tall), 0);
    const dim3 grid(across, strips.tall + ceil_div(rest, strips.low));
    kernel<<<grid, block, bytes>>>(in, out, width, height, strips);
    check(cudaGetLastError());
    // kata: end
}
