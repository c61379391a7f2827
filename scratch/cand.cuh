#pragma once
#include "v.cuh"
// mode 0: across 64 or 60 at run time; 1: instances; 2: 17 packs. order 1: down first
template <int line, int mode, bool shifted, int order, int minb>
__global__ void __launch_bounds__(256, minb) cand(const float* __restrict__ in, float* __restrict__ out, int rows, int columns, int across_) {
    constexpr int tile = 64, threads = 256, wide = 4, packs = mode == 2 ? 17 : 16, lanes = mode == 2 ? 8 : 16;
    constexpr int above = shifted ? line : 0, high = above + tile;
    const int across = mode == 2 || !shifted ? 64 : mode == 1 ? 60 : across_;
    __shared__ alignas(16) float in_s[high / wide][wide * wide * packs + wide];
    const int down = cd(rows + (shifted ? line - 1 : 0), tile);
    const int first_row = (order ? blockIdx.x % down : blockIdx.y) * tile - above, first_column = (order ? blockIdx.x / down : blockIdx.x) * across;
    const int first_needed = shifted && rows % line == 0 ? above : 0;
    const int total = rows * columns, width = min(across, columns - first_column);
    constexpr int at_once = threads / lanes, rounds = (high + at_once - 1) / at_once, nq = (packs + lanes - 1) / lanes;
    Pack<wide> got[rounds][nq];
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
        const int y = i * at_once + threadIdx.x / lanes, row = first_row + y;
        if (y < first_needed) continue;
        const int start = row * columns + first_column;
#pragma unroll
        for (int q = 0; q < nq; ++q) {
            const int p = threadIdx.x % lanes + q * lanes, from = (shifted ? start & -wide : start) + p * wide;
            got[i][q] = {};
            if (row >= 0 && row < rows && from < start + width && (!shifted || from + wide <= total) && (packs % lanes == 0 || p < packs)) got[i][q] = *reinterpret_cast<const Pack<wide>*>(&in[from]);
        }
    }
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
        const int y = i * at_once + threadIdx.x / lanes;
#pragma unroll
        for (int q = 0; q < nq; ++q) {
            const int p = threadIdx.x % lanes + q * lanes;
            if (y >= first_needed && (packs % lanes == 0 || p < packs) && (high % at_once == 0 || y < high)) *reinterpret_cast<Pack<wide>*>(&in_s[y / wide][(y % wide * packs + p) * wide]) = got[i][q];
        }
    }
    if constexpr (shifted) {
        const int y = rows - 1 - first_row, from = total & -wide, p = (from - ((total - columns + first_column) & -wide)) / wide;
        if (y < high && p >= 0 && p < packs && threadIdx.x == y % at_once * lanes + p % lanes)
            for (int s = 0; s < wide - 1; ++s) if (from + s < total) in_s[y / wide][(y % wide * packs + p) * wide + s] = in[from + s];
    }
    __syncthreads();
    const int c = threadIdx.x / 8, l = threadIdx.x % 8;
    const int behind = shifted ? (first_column + c) % line * (rows % line) % line : 0;
    const int x = above - behind + wide * l;
#pragma unroll
    for (int a = 0; a < 64; a += 32)
#pragma unroll
        for (int h = 0; h < tile; h += 32) {
            const int out_column = first_row + x + h;
            if (a + c >= width || out_column <= -wide || out_column >= rows) continue;
            Pack<wide> pack;
            for (int s = 0; s < wide; ++s) {
                const int y = x + ((s - x) & (wide - 1)), shift = shifted ? (first_row + s) * columns & (wide - 1) : 0;
                pack.at[s] = in_s[y / wide + h / wide][s * wide * packs + shift + a + c];
            }
            if constexpr (shifted)
                for (int by = 2; by > 0; by /= 2) {
                    const Pack<wide> was = pack;
                    for (int s = 0; s < wide; ++s) pack.at[s] = behind & by ? was.at[(s - by) & (wide - 1)] : was.at[s];
                }
            float* to = &out[(first_column + a + c) * rows + out_column];
            if (!shifted || (out_column >= 0 && out_column + wide <= rows)) *reinterpret_cast<Pack<wide>*>(to) = pack;
            else
                for (int s = 0; s < wide; ++s) if (out_column + s >= 0 && out_column + s < rows) to[s] = pack.at[s];
        }
}
template <int line, int mode, int order, int minb>
void run_cand(const float* in, float* out, int rows, int columns) {
    const bool even = rows % 4 == 0 && columns % 4 == 0;
    const int across = mode == 2 || columns % 4 == 0 && mode == 0 || even && mode == 1 ? 64 : 60;
    const bool sh = mode != 1 || !even;
    const int d = cd(rows + (sh ? line - 1 : 0), 64), a = cd(columns, across);
    const dim3 grid = order ? dim3(d * a) : dim3(a, d);
    if (mode == 1 && even) cand<line, mode, false, order, minb><<<grid, 256>>>(in, out, rows, columns, across);
    else cand<line, mode, true, order, minb><<<grid, 256>>>(in, out, rows, columns, across);
}
#define C2(li, mo, od, mb) static Reg c_##li##_##mo##_##od##_##mb("BASE cand line " #li " mode " #mo " order " #od " minb " #mb, run_cand<li, mo, od, mb>);
