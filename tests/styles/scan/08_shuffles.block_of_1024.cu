// Blocks of 1024 threads with four elements each, and one thread that looks back at one section after the
// other: usual after reading the paper, but not CUB.
#include "messages.cuh"

#define BLOCK 1024
#define ITEMS 4
constexpr int tile = BLOCK * ITEMS;

template <class T, class Op>
__device__ __forceinline__ T warp_inclusive(T v, Op op) {
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        T u = shuffle_up(v, d);
        if ((threadIdx.x & 31) >= d) v = op(u, v);
    }
    return v;
}

template <class T, class Op>
__global__ void __launch_bounds__(BLOCK)
    scan_kernel(const T* __restrict__ in, T* __restrict__ out, int n, Kind kind, Word* status, int* counter, Op op) {
    __shared__ T tile_s[padded(tile)];
    __shared__ T warp_sums[BLOCK / 32];
    __shared__ T exclusive_s;
    __shared__ int tile_id;
    const int t = threadIdx.x;
    if (t == 0) tile_id = atomicAdd(counter, 1);
    __syncthreads();
    const int base = tile_id * tile;
    for (int k = 0; k < ITEMS; k++) {
        const int e = t + k * BLOCK;
        tile_s[padded(e)] = base + e < n ? in[base + e] : op.identity();
    }
    __syncthreads();
    T item[ITEMS];
    for (int k = 0; k < ITEMS; k++) item[k] = tile_s[padded(t * ITEMS + k)];
    for (int k = 1; k < ITEMS; k++) item[k] = op(item[k - 1], item[k]);
    const T inclusive = warp_inclusive(item[ITEMS - 1], op);
    if ((t & 31) == 31) warp_sums[t / 32] = inclusive;
    T exclusive = shuffle_up(inclusive, 1);
    if ((t & 31) == 0) exclusive = op.identity();
    __syncthreads();
    if (t < 32) {
        const T sums = warp_inclusive(t < BLOCK / 32 ? warp_sums[t] : op.identity(), op);
        const T total = shuffle(sums, 31);
        T before = shuffle_up(sums, 1);
        if (t == 0) before = op.identity();
        if (t == 0) {
            publish(status, tile_id, aggregate, total);
            T running = op.identity();
            for (int i = tile_id - 1; i >= 0;) {
                T other;
                const State state = observe(status, i, other);
                if (state == nothing) continue;
                running = op(other, running);
                if (state == prefix) break;
                i--;
            }
            publish(status, tile_id, prefix, op(running, total));
            exclusive_s = running;
        }
        if (t < BLOCK / 32) warp_sums[t] = before;
    }
    __syncthreads();
    const T before = op(exclusive_s, op(warp_sums[t / 32], exclusive));
    for (int k = 0; k < ITEMS; k++) {
        const T left = k == 0 ? before : op(before, item[k - 1]);
        tile_s[padded(t * ITEMS + k)] = kind == Kind::inclusive ? op(before, item[k]) : left;
    }
    __syncthreads();
    for (int k = 0; k < ITEMS; k++) {
        const int e = t + k * BLOCK;
        if (base + e < n) out[base + e] = tile_s[padded(e)];
    }
}

template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op) {
    if (n == 0) return;
    const int tiles = ceil_div(n, tile);
    Word* status = reinterpret_cast<Word*>(workspace);
    int* counter = reinterpret_cast<int*>(status + words<T> * tiles);
    check(cudaMemset(workspace, 0, words<T> * tiles * sizeof(Word) + sizeof(int)));
    scan_kernel<<<tiles, BLOCK>>>(in, out, n, kind, status, counter, op);
    check(cudaGetLastError());
}
