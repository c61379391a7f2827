// Branches, loops and exits whose requests can be counted by hand, and warps that wait for one another.
#include "kata.hpp"
#include "kernels.hpp"

#include <cassert>
#include <cstdint>

namespace kernels {

__global__ void two_halves_kernel(const float* in, float* out) {
    const int lane = threadIdx.x;
    if (lane < 16)
        out[lane] = in[lane];
    else
        out[lane + 32] = -in[lane + 32];
}
void two_halves(const float* in, float* out) { two_halves_kernel<<<1, 32>>>(in, out); }

__global__ void nested_halves_kernel(const float* in, float* out) {
    const int lane = threadIdx.x;
    float x;
    if (lane < 16) {
        if (lane < 8)
            x = in[lane];
        else
            x = in[lane + 32] + 1.0f;
        x += in[lane + 64];
    } else {
        x = in[lane + 96] + 2.0f;
    }
    out[lane] = x;
}
void nested_halves(const float* in, float* out) { nested_halves_kernel<<<1, 32>>>(in, out); }

__global__ void skipped_iterations_kernel(const float* in, float* out, int rounds) {
    const int lane = threadIdx.x;
    float sum = 0.0f;
    for (int i = 0; i < rounds; ++i)
        if ((lane + i) % 2 == 0) sum += in[i * 32 + lane];
    out[lane] = sum;
}
void skipped_iterations(const float* in, float* out, int rounds) {
    skipped_iterations_kernel<<<1, 32>>>(in, out, rounds);
}

__global__ void continued_iterations_kernel(const float* in, float* out, int rounds) {
    const int lane = threadIdx.x;
    float sum = 0.0f;
    for (int i = 0; i < rounds; ++i) {
        if ((lane ^ i) % 4 == 0) continue;
        const float x = in[i * 32 + lane];
        if (x < 0.0f) continue;
        sum += x;
    }
    out[lane] = sum;
}
void continued_iterations(const float* in, float* out, int rounds) {
    continued_iterations_kernel<<<1, 32>>>(in, out, rounds);
}

__global__ void broken_loop_kernel(const float* in, float* out) {
    const int lane = threadIdx.x;
    float sum = 0.0f;
    for (int i = 0; i < 32; ++i) {
        if (i == lane / 4) break;
        sum += in[i * 32 + lane];
    }
    out[lane] = sum;
}
void broken_loop(const float* in, float* out) { broken_loop_kernel<<<1, 32>>>(in, out); }

__global__ void trip_counts_kernel(const float* in, float* out) {
    const int lane = threadIdx.x;
    float sum = 0.0f;
    for (int i = 0; i < lane; ++i) sum += in[i * 32 + lane];
    out[lane] = sum;
}
void trip_counts(const float* in, float* out) { trip_counts_kernel<<<1, 32>>>(in, out); }

__global__ void nested_trip_counts_kernel(const float* in, float* out) {
    const int lane = threadIdx.x;
    float sum = 0.0f;
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < (lane + i) % 4; ++k) sum += in[(4 * i + k) * 32 + lane];
        out[i * 32 + lane] = sum;
    }
}
void nested_trip_counts(const float* in, float* out) { nested_trip_counts_kernel<<<1, 32>>>(in, out); }

// Each lane halves its number until it is odd.
__global__ void while_not_done_kernel(const float* in, float* out) {
    int x = threadIdx.x + 32;
    float sum = 0.0f;
    while (x % 2 == 0) {
        sum += in[x];
        x /= 2;
    }
    out[threadIdx.x] = sum;
}
void while_not_done(const float* in, float* out) { while_not_done_kernel<<<1, 32>>>(in, out); }

__global__ void switched_kernel(const float* in, float* out) {
    const int lane = threadIdx.x;
    float x = 0.0f;
    switch (lane % 4) {
        case 0:
            x = in[lane];
            break;
        case 1:
            x = in[32 + lane] * 2.0f;
            break;
        case 2:
            x = in[64 + lane] * 3.0f;
            [[fallthrough]];
        default:
            x += in[96 + lane];
    }
    out[lane] = x;
}
void switched(const float* in, float* out) { switched_kernel<<<1, 32>>>(in, out); }

__global__ void short_circuit_kernel(const float* in, float* out) {
    const int lane = threadIdx.x;
    const bool both = lane % 2 == 0 && in[lane] > 0.0f && in[32 + lane] > 0.0f;
    out[lane] = both ? in[64 + lane] : 0.0f;
}
void short_circuit(const float* in, float* out) { short_circuit_kernel<<<1, 32>>>(in, out); }

__global__ void known_condition_kernel(const float* in, float* out) {
    const int lane = threadIdx.x;
    const bool at_end = lane == 0 || lane == 31;
    float sum = in[lane];
    if (!at_end) sum += in[lane - 1];
    out[lane] = sum;
}
void known_condition(const float* in, float* out) { known_condition_kernel<<<1, 32>>>(in, out); }

template <class T>
__device__ T smoothed(const T* in, int i) {
    T sum = 0;
    for (int k = 0; k < 3; ++k) {
        const T x = in[i + k];
        if (x > T(0)) sum += x / 3;
    }
    return sum;
}
__device__ float doubled(const float* in, int i) { return 2 * smoothed(in, i); }
__global__ void helpers_in_branches_kernel(const float* in, float* out, int rounds) {
    const int lane = threadIdx.x;
    for (int i = 0; i < rounds; ++i) {
        float x = 1.0f;
        if (lane % 2 == 0) x = smoothed(in, i * 32 + lane);
        if (lane % 4 == 1) x = doubled(in, i * 32 + lane);
        out[i * 32 + lane] = x;
    }
}
void helpers_in_branches(const float* in, float* out, int rounds) {
    helpers_in_branches_kernel<<<1, 32>>>(in, out, rounds);
}

__global__ void early_exit_kernel(const float* in, float* out, int n) {
    const int i = threadIdx.x;
    if (i >= n) return;
    const float x = in[i];
    if (x < 0.0f) return;
    out[i] = x;
}
void early_exit(const float* in, float* out, int n, int threads) {
    early_exit_kernel<<<1, threads>>>(in, out, n);
}

__global__ void one_pointer_kernel(const float* in, float* out) {
    __shared__ float tile[32];
    const int lane = threadIdx.x;
    tile[lane] = 1.0f;
    __syncwarp();
    const float* from = lane % 2 == 0 ? tile : in;
    out[lane] = from[lane];
}
void one_pointer(const float* in, float* out) { one_pointer_kernel<<<1, 32>>>(in, out); }

__global__ void long_until_barrier_kernel(const float* in, float* out, int rounds) {
    float sum = 0.0f;
    for (int i = 0; i < rounds; ++i) sum += in[(threadIdx.x + i) % blockDim.x];
    __syncthreads();
    out[threadIdx.x] = sum;
}
void long_until_barrier(const float* in, float* out, int rounds, int threads) {
    long_until_barrier_kernel<<<1, threads>>>(in, out, rounds);
}
__global__ void long_until_warp_kernel(const float* in, float* out, int rounds) {
    float sum = 0.0f;
    for (int i = 0; i < rounds; ++i) sum += in[(threadIdx.x + i) % blockDim.x];
    sum += __shfl_xor_sync(0xffffffff, sum, 1);
    out[threadIdx.x] = sum;
}
void long_until_warp(const float* in, float* out, int rounds, int threads) {
    long_until_warp_kernel<<<1, threads>>>(in, out, rounds);
}

__global__ void uniform_kernel(const float* in, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < 5; ++k) sum += in[i + k];
    out[i] = sum;
}
void uniform(const float* in, float* out, int blocks, int threads) {
    uniform_kernel<<<blocks, threads>>>(in, out);
}

template <bool second_barrier>
__global__ void kogge_stone_kernel(float* data) {
    __shared__ float x[1024];
    const unsigned t = threadIdx.x;
    x[t] = data[t];
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        __syncthreads();
        float sum = 0.0f;
        if (t >= stride) sum = x[t] + x[t - stride];  // mark: Kogge-Stone reads
        if (second_barrier) __syncthreads();
        if (t >= stride) x[t] = sum;  // mark: Kogge-Stone writes
    }
    data[t] = x[t];
}
void kogge_stone(float* data) { kogge_stone_kernel<true><<<1, 1024>>>(data); }
void kogge_stone_single_barrier(float* data) { kogge_stone_kernel<false><<<1, 1024>>>(data); }

__global__ void barriers_kernel(int count) {
    for (int i = 0; i < count; ++i) __syncthreads();
}
void barriers(int count, int blocks, int threads) { barriers_kernel<<<blocks, threads>>>(count); }

__global__ void each_block_kernel(const float* in, float* out) {
    float sum = 0.0f;
    for (unsigned k = 0; k <= blockIdx.x; ++k) sum += in[k * blockDim.x + threadIdx.x];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
void each_block(const float* in, float* out, int blocks) { each_block_kernel<<<blocks, 64>>>(in, out); }

__device__ int blocks_that_ran;

__global__ void one_block_fails_kernel(Failure how, unsigned block, int* ran) {
    if (threadIdx.x == 0) *ran = atomicAdd(&blocks_that_ran, 1) + 1;
    if (blockIdx.x != block) return;
    if (how == Failure::assertion) assert(blockIdx.x != block);
    if (how == Failure::crash) *reinterpret_cast<volatile int*>(std::uintptr_t{64}) = 1;
}
void one_block_fails(Failure how, unsigned block, int blocks, int* ran) {
    blocks_that_ran = 0;
    one_block_fails_kernel<<<blocks, 32>>>(how, block, ran);
}

__global__ void rounds_by_warp_kernel(const int* first, const int* then, float* out, bool barrier) {
    const int warp = threadIdx.x / 32;
    float sum = 0.0f;
    for (int i = first[warp]; i > 0; --i) sum += i;
    if (barrier) __syncthreads();
    for (int i = then[warp]; i > 0; --i) sum += i;
    out[threadIdx.x] = sum;
}
void rounds_by_warp(const int* first, const int* then, float* out, int warps, bool barrier) {
    rounds_by_warp_kernel<<<1, 32 * warps>>>(first, then, out, barrier);
}

__global__ void one_lane_kernel(const float* in, float* out, int n) {
    if (threadIdx.x == 0)
        for (int i = 0; i < n; ++i) out[i] = in[i];
}
void one_lane(const float* in, float* out, int n, int threads) {
    one_lane_kernel<<<1, threads>>>(in, out, n);
}

__global__ void walk_kernel(const Deed* deeds, int length, unsigned* ticket, int* flags, int* counters,
                            float* out) {
    __shared__ unsigned block;
    if (threadIdx.x == 0) block = atomicAdd(ticket, 1u);
    __syncthreads();
    const unsigned warp = (block * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0.0f;
    for (int i = 0; i < length; ++i) {
        const Deed deed = deeds[warp * length + i];
        switch (deed.act) {
            case rest:
                break;
            case rounds:
                for (int k = 0; k < deed.value; ++k) sum += k;
                break;
            case all_meet:
                __syncthreads();
                break;
            case signal_to:
                atomicExch(&flags[deed.value * 32 + lane], 1);
                break;
            case wait_for:
                while (atomicAdd(&flags[deed.value * 32 + lane], 0) == 0) {
                }
                break;
            case count_up:
                atomicAdd(&counters[deed.value], 1);
                break;
        }
    }
    out[warp * 32 + lane] = sum;
}
void walk(const Deed* deeds, int length, unsigned* ticket, int* flags, int* counters, float* out, int blocks,
          int warps) {
    walk_kernel<<<blocks, 32 * warps>>>(deeds, length, ticket, flags, counters, out);
}

}  // namespace kernels
