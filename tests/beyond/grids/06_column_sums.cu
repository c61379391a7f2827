// 06 Column sums: a warp marches down 480 columns, and a thread keeps the sums of 16 columns of the patch.
//
// Changed against 05: a thread reads only its own columns, two bytes a pixel, and gets the sums beside them
// from its neighbours in the warp (shuffle); two sums share a word; the next rows are on their way while
// these are worked on; and the mean is one multiplication, rounded down into the lowest bits of a float.
// NVIDIA H100 80GB HBM3, 16384², s = 1, 3, 7, 15: 0.237, 0.281, 0.315, 0.330 → 0.221, 0.274, 0.307, 0.324 ms;
// copy 0.181.
#include "grids.cuh"

constexpr int block = 128;  // threads: four warps, side by side
constexpr int strip = 144;  // rows of a warp
constexpr int wide = 16;    // columns of a thread, and more than a patch reaches to either side

template <int size, bool aligned>
__global__ void __launch_bounds__(block, 8)
    running_blur(const unsigned char* __restrict__ in, unsigned char* __restrict__ out, int width,
                 int height) {
    const int lane = threadIdx.x % 32, warp = blockIdx.x * (block / 32) + threadIdx.x / 32;
    const int col = (warp * 30 + lane - 1) * wide;  // lanes 0 and 31 only keep sums for their neighbours
    const int first = blockIdx.y * strip, last = min(first + strip, height);
    const bool inside = col >= 0 && col < width, on_halo = lane == 0 || lane == 31;

    struct Row {
        unsigned word[wide / 4];
    };  // four pixels in a word
    const auto load = [&](int row) {
        Row result = {};  // 0 where there is no picture
        if (!inside || row < 0 || row >= height) return result;
        const unsigned char* p = &in[row * width + col];
        if constexpr (aligned) {
            const uint4 v = *reinterpret_cast<const uint4*>(p);
            result = Row{v.x, v.y, v.z, v.w};
        } else {
            for (int i = 0; i < wide; ++i)
                if (col + i < width) result.word[i / 4] |= p[i] << (i % 4 * 8);
        }
        return result;
    };

    float share[wide] = {};          // half of one over the pixels of the patch that lie in the picture
    unsigned column[wide / 2] = {};  // sums of 2 · size + 1 pixels, two in a word: 16 bits are enough
    int rows_before = 0;
    Row next = load(first - size), next_old = {};
    for (int row = first - size; row < last + size; ++row) {
        const int y = row - size, leaving = y - size - 1;
        const Row fresh = next, old = next_old;
        next = load(row + 1);  // on their way while this row is worked on
        next_old = leaving + 1 >= first - size ? load(leaving + 1) : Row{};
        for (int i = 0; i < wide / 4; ++i) {
            column[2 * i] += __byte_perm(fresh.word[i], 0, 0x4240) - __byte_perm(old.word[i], 0, 0x4240);
            column[2 * i + 1] += __byte_perm(fresh.word[i], 0, 0x4341) - __byte_perm(old.word[i], 0, 0x4341);
        }
        if (y < first) continue;

        // Of 48 columns, from the left neighbour's to the right neighbour's, those that are needed
        unsigned all[3 * wide / 2];
        for (int i = 0; i < wide / 2; ++i) {
            const int c = i / 2 * 4 + i % 2;  // the word holds columns c and c + 2
            all[wide / 2 + i] = column[i];
            if (c + 2 >= wide - size) all[i] = __shfl_up_sync(0xffffffff, column[i], 1);
            if (c < size) all[wide + i] = __shfl_down_sync(0xffffffff, column[i], 1);
        }
        const auto add = [&](int c, int sign, int sum) {
            return __dp2a_lo(static_cast<int>(all[c / 4 * 2 + c % 2]), (2 * sign & 0xff) << (c / 2 % 2 * 8),
                             sum);
        };
        int sum = 1;
        for (int i = 0; i < 3 * wide / 2; ++i) {
            int ones = 0;
            for (int j = 0; j < 2; ++j) {
                const int c = i / 2 * 4 + i % 2 + 2 * j;
                if (c >= wide - size && c <= wide + size)
                    ones |= 2 << (j * 8);  // twice the sum, and one more
            }
            if (ones != 0) sum = __dp2a_lo(static_cast<int>(all[i]), ones, sum);
        }
        const int rows = min(y + size, height - 1) - max(y - size, 0) + 1;
        if (rows != rows_before)  // only near the top and the bottom
            for (int s = 0; s < wide; ++s) {
                const int columns = min(col + s + size, width - 1) - max(col + s - size, 0) + 1;
                share[s] = 0.5f / max(rows * columns, 1);
            }
        rows_before = rows;
        Row result = {};
        for (int s = 0; s < wide; ++s) {
            // Rounded down, into the lowest bits: 2²³ has its last one in the place of the ones.
            const unsigned mean = __float_as_uint(__fmaf_rz(sum, share[s], 8388608.0f));
            result.word[s / 4] = s % 4 == 0 ? mean & 0xff
                                            : __byte_perm(result.word[s / 4], mean,
                                                          s % 4 == 1   ? 0x3240
                                                          : s % 4 == 2 ? 0x3410
                                                                       : 0x4210);
            if (s < wide - 1) sum = add(wide + s + size + 1, 1, add(wide + s - size, -1, sum));
        }
        if (!inside || on_halo) continue;
        unsigned char* p = &out[y * width + col];
        if constexpr (aligned)
            *reinterpret_cast<uint4*>(p) =
                make_uint4(result.word[0], result.word[1], result.word[2], result.word[3]);
        else
            for (int s = 0; s < wide; ++s)
                if (col + s < width) p[s] = result.word[s / 4] >> (s % 4 * 8);
    }
}

/// Launches the kernel that is compiled for `blur_size`. There is one for each size from 0 to `last`.
template <int last = grids::max_blur_size>
void blur_with(int blur_size, const unsigned char* in, unsigned char* out, int width, int height) {
    if (blur_size == last) {
        const dim3 grid(ceil_div(width, block / 32 * 30 * wide), ceil_div(height, strip));
        // Only if the width is a multiple of 16 does every row begin at a multiple of 16 bytes.
        const auto kernel = width % wide == 0 ? running_blur<last, true> : running_blur<last, false>;
        kernel<<<grid, block>>>(in, out, width, height);
        check(cudaGetLastError());
    } else if constexpr (last > 0) {
        blur_with<last - 1>(blur_size, in, out, width, height);
    }
}

void blur(const unsigned char* in, unsigned char* out, int width, int height, int blur_size) {
    if (width == 0 || height == 0) return;  // a grid without blocks cannot be launched
    blur_with(blur_size, in, out, width, height);
}
