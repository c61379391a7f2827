// ring: rows come into a warp's ring in shared memory ahead of their use
#include "convolution.cuh"
template <int r>
void convolve(const float* in, const float* filter, float* out, int width, int height);
void convolve(const float* in, const float* filter, float* out, int width, int height, int radius) {
    if (radius == 2) return convolve<2>(in, filter, out, width, height);
}
#include <cuda_pipeline.h>

constexpr int block = 64;
constexpr int per_side = 20;
constexpr int least = 1;
constexpr int wide = 4;
constexpr int slots = 4, ahead = slots - 1;
constexpr int of_warp = 32 * wide;

__constant__ float weights[convolution::max_weights];

struct alignas(16) Pack {
    float at[4];
};

template <int n>
constexpr int align = n == wide ? 0 : 0;  // 0: stores begin with the warp's own columns
template <int n>
constexpr int stride = of_warp - align<n>;

template <int r, int n>
__global__ void __launch_bounds__(block)
    ring_rows(const float* __restrict__ in, float* __restrict__ out, int width, int height, int strip) {
    constexpr int side = 2 * r + 1;
    constexpr int halo = ceil_div(r, wide);
    constexpr int mine = n == wide ? 2 * halo + 1 : ceil_div(wide + 2 * r, wide);
    constexpr int pitch = 32 + 2 * halo;     // packs
    __shared__ Pack ring[block / 32][slots][pitch];
    __shared__ Pack stage[n == wide ? 1 : block / 32][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int col0 = (blockIdx.x * (block / 32) + warp) * stride<n> - align<n>;
    const int first = blockIdx.y * strip, last = min(first + strip, height);
    if (col0 >= width) return;
    const bool whole = col0 >= r && col0 + of_warp + r <= width;
    const auto begin = [&](int slot, int row) {
        const bool inside = row >= 0 && row < min(last + r, height);
        if constexpr (n == wide) {
            for (int i = 0; i < ceil_div(pitch, 32); ++i) {
                const int p = lane + 32 * i, c = col0 + (p - halo) * wide;
                if (p < pitch) {
                    if (inside && c >= 0 && c < width)
                        __pipeline_memcpy_async(&ring[warp][slot][p], &in[row * width + c], 16);
                    else
                        ring[warp][slot][p] = {};
                }
            }
        } else {
            float* const to = &ring[warp][slot][0].at[0];
            if (!inside) {
                for (int p = lane; p < of_warp + 2 * r; p += 32) to[p] = 0;
                return;
            }
            const float* const from = &in[row * width + col0 - r + lane];
            if (whole) {
                for (int i = 0; i < 4; ++i) __pipeline_memcpy_async(&to[lane + 32 * i], from + 32 * i, 4);
                if (lane < 2 * r) __pipeline_memcpy_async(&to[lane + of_warp], from + of_warp, 4);
            } else {
                for (int p = lane; p < of_warp + 2 * r; p += 32) {
                    const int c = col0 - r + p;
                    if (c >= 0 && c < width)
                        __pipeline_memcpy_async(&to[p], &in[row * width + c], 4);
                    else
                        to[p] = 0;
                }
            }
        }
    };
    for (int i = 0; i < ahead; ++i) {
        begin(i, first - r + i);
        __pipeline_commit();
    }
    float sum[side][wide] = {};
    int slot = 0;
#pragma unroll 2
    for (int row = first - r; row < last + r; ++row) {
        __pipeline_wait_prior(ahead - 1);
        __syncwarp();
        begin(slot == 0 ? slots - 1 : slot - 1, row + ahead);
        __pipeline_commit();
        Pack packs[mine];
        for (int i = 0; i < mine; ++i) packs[i] = ring[warp][slot][lane + i];
        slot = slot == slots - 1 ? 0 : slot + 1;
        const auto at = [&](int i) { const int place = (n == wide ? halo * wide : r) + i; return packs[place / wide].at[place % wide]; };
#pragma unroll
        for (int i = 0; i < side; ++i)
#pragma unroll
            for (int s = 0; s < wide; ++s) {
                float next = i < side - 1 ? sum[i][s] : 0.0f;
#pragma unroll
                for (int f_col = 0; f_col < side; ++f_col)
                    next += weights[(side - 1 - i) * side + f_col] * at(s - r + f_col);
                sum[i][s] = next;
            }
        if (row - r >= first) {
            Pack result;
            for (int s = 0; s < wide; ++s) result.at[s] = sum[0][s];
            const int from = (row - r) * width + col0;
            if constexpr (n == wide) {
                if (col0 + lane * wide < width) *reinterpret_cast<Pack*>(&out[from + lane * wide]) = result;
            } else {
                stage[warp][lane] = result;
                __syncwarp();
                const float* const values = &stage[warp][0].at[0];
                const int by = align<n> == 0 ? 0 : -from & (align<n> == 0 ? 0 : align<n> - 1);
                if (whole && align<n> == 0) {
                    for (int i = 0; i < 4; ++i) out[from + lane + 32 * i] = values[lane + 32 * i];
                } else
                for (int i = 0; i < 4; ++i) {
                    const int p = by + lane + 32 * i;
                    if (lane + 32 * i < stride<n> && col0 + p >= 0 && col0 + p < width) out[from + p] = values[p];
                }
            }
        }
#pragma unroll
        for (int i = 0; i < side - 1; ++i)
#pragma unroll
            for (int s = 0; s < wide; ++s) sum[i][s] = sum[i + 1][s];
    }
}

template <int r>
void convolve(const float* in, const float* filter, float* out, int width, int height) {
    if (width == 0 || height == 0) return;
    constexpr int side = 2 * r + 1;
    check(cudaMemcpyToSymbolAsync(weights, filter, side * side * sizeof(float), 0, cudaMemcpyDeviceToDevice));
    const int n = width % wide == 0 ? wide : 1;
    const auto kernel = n == wide ? ring_rows<r, wide> : ring_rows<r, 1>;
    int device = 0, processors = 0, resident = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, block, 0));
    const int columns = block / 32 * (n == wide ? stride<wide> : stride<1>);
    const int across = ceil_div(width + (n == wide ? align<wide> : align<1>), columns);
    const int of_one_wave = ceil_div(height, max(processors * resident / across, 1));
    const int waves = ceil_div(of_one_wave, per_side * side);
    const int strip = max(ceil_div(of_one_wave, waves), least * side);
    kernel<<<dim3(across, ceil_div(height, strip)), block>>>(in, out, width, height, strip);
    check(cudaGetLastError());
}
