// 05 Running blur: a thread marches down 16 columns, adds the row that enters the patch and takes off the one
// that leaves it. Both sums are running ones along the row, too.
//
// Changed against 03: a pixel costs four multiplications-and-additions of bytes (dp4a), whatever the patch,
// instead of (2s + 1)² loads and additions. Rows whose length is no multiple of 16 are read and written byte
// by byte. NVIDIA H100 80GB HBM3, 16384², s = 1, 3, 7, 15: 2.04, 5.84, 20.8, 79.8 → 0.237, 0.281, 0.315,
// 0.330 ms; copy 0.181. With large patches the row that leaves has left L2, too, and is read again: 1.6 times
// the bytes of a copy at s = 15.
#include "grids.cuh"

constexpr int block = 128;  // threads, side by side
constexpr int strip = 128;  // rows of a thread
constexpr int wide = 16;    // columns of a thread, and more than a patch reaches to either side

template <int size, bool aligned>
__global__ void __launch_bounds__(block, 8)
    running_blur(const unsigned char* __restrict__ in, unsigned char* __restrict__ out, int width,
                 int height) {
    const int col = (blockIdx.x * block + threadIdx.x) * wide;
    const int first = blockIdx.y * strip, last = min(first + strip, height);
    if (col >= width) return;

    // 48 pixels from col - 16 on, four in a word, and 0 where there is no picture.
    struct Row {
        unsigned word[3 * wide / 4];
    };
    const auto load = [&](int row, bool wanted) {
        Row result = {};
        if (!wanted || row < 0 || row >= height) return result;
        for (int i = 0; i < 3; ++i) {
            const int x = col + (i - 1) * wide;
            if constexpr (aligned) {
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
    };
    const auto add = [](const Row& row, int i, unsigned sum) {  // pixel i of the 48
        return __dp4a(row.word[i / 4], 1u << (i % 4 * 8), sum);
    };

    float per_col[wide];  // one over the columns of the patch that lie in the picture
    for (int s = 0; s < wide; ++s)
        per_col[s] = 1.0f / max(min(col + s + size, width - 1) - max(col + s - size, 0) + 1, 1);
    int sum[wide] = {};  // of the patch around each of the thread's pixels
    for (int row = first - size; row < last + size; ++row) {
        const int leaving = row - 2 * size - 1, y = row - size;
        const Row fresh = load(row, true), old = load(leaving, leaving >= first - size);
        // The change along the row is a running sum, too, of pixels that come from the right and go to the
        // left.
        unsigned plus = 0, minus = 0;
        for (int i = 0; i < 3 * wide / 4; ++i) {
            unsigned ones = 0;  // for the bytes of the word that belong to the first pixel's patch
            for (int j = 0; j < 4; ++j)
                if (4 * i + j >= wide - size && 4 * i + j <= wide + size) ones |= 1u << (j * 8);
            if (ones != 0) plus = __dp4a(fresh.word[i], ones, plus), minus = __dp4a(old.word[i], ones, minus);
        }
        for (int s = 0; s < wide; ++s) {
            sum[s] += plus - minus;
            plus = add(fresh, wide + s + size + 1, add(old, wide + s - size, plus));
            minus = add(old, wide + s + size + 1, add(fresh, wide + s - size, minus));
        }
        if (y < first) continue;
        const float per_row = 1.0f / (min(y + size, height - 1) - max(y - size, 0) + 1);
        unsigned word[wide / 4] = {};
        for (int s = 0; s < wide; ++s) {
            // Half a pixel more: a mean that is a whole number must not fall below it by rounding.
            const unsigned mean = (sum[s] + 0.5f) * (per_col[s] * per_row);
            word[s / 4] |= mean << (s % 4 * 8);
        }
        if constexpr (aligned) {
            *reinterpret_cast<uint4*>(&out[y * width + col]) = make_uint4(word[0], word[1], word[2], word[3]);
        } else {
            for (int s = 0; s < wide; ++s)
                if (col + s < width) out[y * width + col + s] = word[s / 4] >> (s % 4 * 8);
        }
    }
}

/// Launches the kernel that is compiled for `blur_size`. There is one for each size from 0 to `last`.
template <int last = grids::max_blur_size>
void blur_with(int blur_size, const unsigned char* in, unsigned char* out, int width, int height) {
    if (blur_size == last) {
        const dim3 grid(ceil_div(width, block * wide), ceil_div(height, strip));
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
