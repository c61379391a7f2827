// Barriers and warps.
#include "kata.hpp"
#include "kernels.hpp"

namespace kernels {

__global__ void counting_barriers_kernel(const int* predicate, int* out) {
    const int p = predicate[threadIdx.x];
    out[3 * threadIdx.x] = __syncthreads_count(p);
    out[3 * threadIdx.x + 1] = __syncthreads_and(p);
    out[3 * threadIdx.x + 2] = __syncthreads_or(p);
}
void counting_barriers(const int* predicate, int* out, int threads) {
    counting_barriers_kernel<<<1, threads>>>(predicate, out);
}

__global__ void shuffle_kernel(Shuffle kind, unsigned mask, int argument, int width, const int* in,
                               int* out) {
    const int value = in[threadIdx.x];
    if (!(mask >> threadIdx.x % 32 & 1)) return;
    switch (kind) {
        case Shuffle::index:
            out[threadIdx.x] = __shfl_sync(mask, value, argument, width);
            break;
        case Shuffle::up:
            out[threadIdx.x] = __shfl_up_sync(mask, value, argument, width);
            break;
        case Shuffle::down:
            out[threadIdx.x] = __shfl_down_sync(mask, value, argument, width);
            break;
        case Shuffle::exclusive_or:
            out[threadIdx.x] = __shfl_xor_sync(mask, value, argument, width);
            break;
    }
}
void shuffle(Shuffle kind, unsigned mask, int argument, int width, const int* in, int* out, int threads) {
    shuffle_kernel<<<1, threads>>>(kind, mask, argument, width, in, out);
}

__global__ void shuffle_types_kernel(double* doubles, long long* longs, unsigned* halves) {
    const unsigned lane = threadIdx.x;
    doubles[lane] = __shfl_xor_sync(0xffffffff, 0.5 + lane, 1);
    longs[lane] = __shfl_sync(0xffffffff, (1ll << 40) + lane, 31 - lane);
    halves[lane] = __shfl_down_sync(0xffffffff, static_cast<unsigned short>(lane), 1);
}
void shuffle_types(double* doubles, long long* longs, unsigned* halves) {
    shuffle_types_kernel<<<1, 32>>>(doubles, longs, halves);
}

__global__ void votes_kernel(unsigned mask, const int* predicate, unsigned* out) {
    if (!(mask >> threadIdx.x % 32 & 1)) return;
    out[3 * threadIdx.x] = __ballot_sync(mask, predicate[threadIdx.x]);
    out[3 * threadIdx.x + 1] = __any_sync(mask, predicate[threadIdx.x]);
    out[3 * threadIdx.x + 2] = __all_sync(mask, predicate[threadIdx.x]);
}
void votes(unsigned mask, const int* predicate, unsigned* out, int threads) {
    votes_kernel<<<1, threads>>>(mask, predicate, out);
}

__global__ void matches_kernel(unsigned mask, const int* values, unsigned* out) {
    if (!(mask >> threadIdx.x % 32 & 1)) return;
    int same = 7;
    out[3 * threadIdx.x] = __match_any_sync(mask, values[threadIdx.x]);
    out[3 * threadIdx.x + 1] = __match_all_sync(mask, values[threadIdx.x], &same);
    out[3 * threadIdx.x + 2] = same;
}
void matches(unsigned mask, const int* values, unsigned* out, int threads) {
    matches_kernel<<<1, threads>>>(mask, values, out);
}

__global__ void sums_kernel(unsigned mask, const int* values, int* out) {
    if (mask >> threadIdx.x % 32 & 1) out[threadIdx.x] = __reduce_add_sync(mask, values[threadIdx.x]);
}
void sums(unsigned mask, const int* values, int* out, int threads) {
    sums_kernel<<<1, threads>>>(mask, values, out);
}

// The halves of a warp each swap neighbours through shared memory, in different code.
__global__ void swap_in_halves_kernel(const int* in, int* out) {
    __shared__ int tile[32];
    const unsigned lane = threadIdx.x;
    tile[lane] = in[lane];
    if (lane < 16) {
        __syncwarp(0x0000ffff);
        out[lane] = tile[lane ^ 1];
    } else {
        __syncwarp(0xffff0000);
        out[lane] = tile[lane ^ 3];
    }
}
void swap_in_halves(const int* in, int* out) { swap_in_halves_kernel<<<1, 32>>>(in, out); }

// Lanes reach the same place after loops of very different lengths.
__global__ void active_lanes_kernel(const int* rounds, unsigned* out) {
    volatile int sum = 0;
    for (int i = 0; i < rounds[threadIdx.x]; ++i) sum = sum + i;
    out[threadIdx.x] = __activemask();
}
void active_lanes(const int* rounds, unsigned* out, int threads) {
    active_lanes_kernel<<<1, threads>>>(rounds, out);
}

__global__ void active_halves_kernel(unsigned* out) {
    if (threadIdx.x % 2 == 0)
        out[threadIdx.x] = __activemask();
    else if (threadIdx.x < 24)
        out[threadIdx.x] = __activemask();
}
void active_halves(unsigned* out) { active_halves_kernel<<<1, 32>>>(out); }

__global__ void active_rest_kernel(unsigned* out) {
    if (threadIdx.x >= 16) return;
    out[threadIdx.x] = __activemask();
}
void active_rest(unsigned* out) { active_rest_kernel<<<1, 32>>>(out); }

__global__ void divergent_barrier_kernel(int n) {
    if (static_cast<int>(threadIdx.x) >= n) return;
    __syncthreads();  // mark: divergent barrier
}
void divergent_barrier(int threads, int n) { divergent_barrier_kernel<<<dim3(2, 2), threads>>>(n); }

__global__ void barrier_in_loop_kernel(int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) __syncthreads();
}
void barrier_in_loop(int n) { barrier_in_loop_kernel<<<1, 64>>>(n); }

__global__ void two_barriers_kernel(int n) {
    if (static_cast<int>(threadIdx.x) < n)
        __syncthreads();  // mark: first of two barriers
    else
        __syncthreads();  // mark: second of two barriers
}
void two_barriers(int threads, int n) { two_barriers_kernel<<<1, threads>>>(n); }

// clang-format off
__global__ void two_barriers_in_a_line_kernel(int n) {
    if (static_cast<int>(threadIdx.x) < n) __syncthreads(); else __syncthreads();  // mark: two in a line
}
// clang-format on
void two_barriers_in_a_line(int threads, int n) { two_barriers_in_a_line_kernel<<<1, threads>>>(n); }

__device__ void meet() {
    __syncthreads();  // mark: helper's barrier
}
__global__ void barriers_in_a_helper_kernel(int n) {
    if (static_cast<int>(threadIdx.x) < n)
        meet();  // mark: first call of the helper
    else
        meet();  // mark: second call of the helper
    for (unsigned i = 0; i < 3; ++i) meet();
}
void barriers_in_a_helper(int threads, int n) { barriers_in_a_helper_kernel<<<1, threads>>>(n); }

__global__ void barrier_against_shuffle_kernel() {
    if (threadIdx.x % 32 < 16)
        __syncthreads();  // mark: barrier against shuffle
    else
        __syncwarp();  // mark: shuffle against barrier
}
void barrier_against_shuffle(int threads) { barrier_against_shuffle_kernel<<<1, threads>>>(); }

__global__ void absent_lanes_kernel(int* out) {
    if (threadIdx.x < 16) out[threadIdx.x] = __shfl_down_sync(0xffffffff, 1, 1);  // mark: absent lanes
    __syncwarp();
}
void absent_lanes(int* out) { absent_lanes_kernel<<<1, 32>>>(out); }

__global__ void early_return_kernel(const int* in, int* out, int n) {
    const int lane = threadIdx.x;
    if (lane >= n) return;
    int sum = in[lane];
    for (int d = 16; d > 0; d /= 2) {
        const int other = __shfl_down_sync(0xffffffff, sum, d);
        if (lane + d < n) sum += other;
    }
    out[lane] = sum;
    __syncwarp();
    int all = 0;
    __match_all_sync(0xffffffff, 7, &all);
    out[32 + lane] = all && __all_sync(0xffffffff, 1) ? __popc(__ballot_sync(0xffffffff, 1)) : -1;
}
void early_return(const int* in, int* out, int n) { early_return_kernel<<<1, 32>>>(in, out, n); }
template <class T>
__global__ void from_absent_lane_kernel(T* out, int n, unsigned mask) {
    const int lane = threadIdx.x;
    if (lane >= n) return;
    out[lane] = __shfl_down_sync(mask, T{1}, 1);  // mark: from a lane that has left
}
__global__ void halves_of_16_kernel(int* out) {
    if (threadIdx.x >= 16) return;
    int sum = 1;  // correct in lane 0 only
    for (int stride = 8; stride > 0; stride /= 2) sum += __shfl_down_sync(0xffff, sum, stride);
    if (threadIdx.x == 0) *out = sum;
}
void halves_of_16(int* out) { halves_of_16_kernel<<<1, 32>>>(out); }
void from_absent_lane(int* out, int n, unsigned mask) { from_absent_lane_kernel<<<1, 32>>>(out, n, mask); }
void from_absent_lane(float* out, int n, unsigned mask) { from_absent_lane_kernel<<<1, 32>>>(out, n, mask); }
void from_absent_lane(double* out, int n, unsigned mask) { from_absent_lane_kernel<<<1, 32>>>(out, n, mask); }

__global__ void foreign_mask_kernel(int* out) {
    out[threadIdx.x] = __ballot_sync(0x0000ffff, 1);  // mark: foreign mask
}
void foreign_mask(int* out) { foreign_mask_kernel<<<1, 32>>>(out); }

__global__ void unlike_masks_kernel(int* out) {
    const unsigned mask = threadIdx.x < 16 ? 0xffffffff : 0xffff0000;
    out[threadIdx.x] = __any_sync(mask, 1);  // mark: unlike masks
}
void unlike_masks(int* out) { unlike_masks_kernel<<<1, 32>>>(out); }

}  // namespace kernels
