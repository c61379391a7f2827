// Loads, waits and exchanges.
#include "kata.hpp"
#include "kernels.hpp"

#include <cuda_pipeline.h>

namespace kernels {

__global__ void loads_behind_barrier_kernel(const int* in, int* out) {
    const int t = threadIdx.x;
    int sum = in[t] + in[t + 1] + in[t + 2];
    __syncthreads();
    if (t < 32) sum += in[t + 3] + in[t + 4];
    __syncthreads();
    out[t] = sum;
}
void loads_behind_barrier(const int* in, int* out, int threads) {
    loads_behind_barrier_kernel<<<1, threads>>>(in, out);
}

__global__ void second_tile_kernel(Way way, const int* in, int* out) {
    struct alignas(16) Pack {
        int at[4];
    };
    alignas(16) __shared__ int s[3][64];
    const int t = threadIdx.x;
    const auto* const from = reinterpret_cast<const Pack*>(in) + t;
    auto* const to = reinterpret_cast<Pack*>(s[0]) + t;
    const bool structures = way == Way::in_structures || way == Way::structures_ahead;
    if (!structures)
        s[0][t] = in[t];
    else if (t < 16)
        *to = *from;
    __syncthreads();
    int second = 0;
    Pack ahead{};
    if (way == Way::copied || way == Way::copied_at_once)
        __pipeline_memcpy_async(&s[1][t], &in[64 + t], 4);
    else if (!structures)
        second = in[64 + t];
    else if (t < 16 && way == Way::in_structures)
        to[16] = from[16];
    else if (t < 16)
        ahead = from[16];
    if (way == Way::at_once) s[1][t] = second;
    if (way == Way::ahead_beside_copy) __pipeline_memcpy_async(&s[2][t], &in[t], 4);
    __pipeline_commit();
    if (way == Way::copied_at_once) __pipeline_wait_prior(0);
    const int first = s[0][63 - t];
    if (way == Way::ahead || way == Way::ahead_beside_copy) s[1][t] = second;
    if (t < 16 && way == Way::structures_ahead) to[16] = ahead;
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = first + s[1][63 - t];
}
void second_tile(Way way, const int* in, int* out) { second_tile_kernel<<<1, 64>>>(way, in, out); }

__global__ void copy_tiles_kernel(Copiers how, const int* in, int* out, int tiles) {
    __shared__ int s[2][64];
    const int t = threadIdx.x, half = t % 64;
    const bool copies = how == Copiers::all_at_once || t < 64;
    const bool reads = how == Copiers::all_at_once || how == Copiers::half_at_once || t >= 64;
    const bool apart = how == Copiers::own_warps_at_once;  // separate tiles for reads and copies
    int sum = 0;
    for (int tile = 0; tile <= tiles; ++tile) {
        if (reads && !apart && tile > 0) sum += s[(tile - 1) % 2][63 - half];
        if (copies && tile < tiles) {
            if (how != Copiers::all_at_once || t < 64)
                __pipeline_memcpy_async(&s[tile % 2][half], &in[64 * tile + half], 4);
            __pipeline_commit();
            __pipeline_wait_prior(0);
        }
        __syncthreads();
        if (!apart) continue;
        if (reads && tile < tiles) sum += s[tile % 2][63 - half];
        __syncthreads();
    }
    out[t] = sum;
}
void copy_tiles(Copiers how, const int* in, int* out, int tiles) {
    copy_tiles_kernel<<<1, 128>>>(how, in, out, tiles);
}

__global__ void load_phases_kernel(const int* in, int* out) {
    const int t = threadIdx.x;
    int sum = in[t] + in[t + 1];
    if (t < 32)
        for (int k = 0; k < 3; ++k) {
            const int next = __shfl_down_sync(~0u, sum, 1);
            sum += next + in[t + k];
        }
    out[t] = sum;
}
void load_phases(const int* in, int* out) { load_phases_kernel<<<1, 64>>>(in, out); }

__global__ void phases_of_tiles_kernel(const int* in, int* out, int rounds, int more) {
    const int t = threadIdx.x, tile = t / 8;
    int sum = in[t];
    for (int k = 0; k < rounds + more * tile; ++k)
        sum += __shfl_xor_sync(0xffu << 8 * tile, sum, 1) + in[t + k];
    out[t] = sum;
}
void phases_of_tiles(const int* in, int* out, int rounds, int more) {
    phases_of_tiles_kernel<<<1, 32>>>(in, out, rounds, more);
}

__global__ void exchanges_of_tiles_kernel(int* out, int rounds, bool in_two_lines, bool together) {
    const int t = threadIdx.x, tile = t / 8;
    int sum = t;
    for (int k = 0; k < rounds; ++k)
        if (tile == 1 && in_two_lines)
            sum += __shfl_xor_sync(0xffu << 8 * tile, sum, 1);
        else
            sum += __shfl_xor_sync(0xffu << 8 * tile, sum, 2);
    if (together) sum += __shfl_xor_sync(~0u >> (32 - blockDim.x), sum, 4);
    out[t] = sum;
}
void exchanges_of_tiles(int* out, int threads, int rounds, bool in_two_lines, bool together) {
    exchanges_of_tiles_kernel<<<1, threads>>>(out, rounds, in_two_lines, together);
}

__global__ void exchanges_kernel(int* out, int rounds) {
    int sum = static_cast<int>(threadIdx.x);
    for (int i = 0; i < rounds; ++i) sum += __shfl_xor_sync(~0u, sum, 1);
    __syncwarp();
    if (threadIdx.x < 32) sum += __any_sync(~0u, sum > 0);
    out[threadIdx.x] = sum;
}
void exchanges(int* out, int rounds) { exchanges_kernel<<<1, 64>>>(out, rounds); }

}  // namespace kernels
