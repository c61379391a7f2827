// The look-back as in CUB: the warp waits for a whole window of 32 sections, a lane that has its value does
// not poll again, and the window is reduced towards its last lane.
#include "messages.cuh"

constexpr int BLOCK_THREADS = 256;
constexpr int ITEMS_PER_THREAD = 16;
constexpr int TILE_ITEMS = BLOCK_THREADS * ITEMS_PER_THREAD;

template <class T, class Op>
__device__ void block_scan(T (&x)[padded(TILE_ITEMS)], Op op) {
    __shared__ T sums[2][BLOCK_THREADS];
    const int t = threadIdx.x;
    T* const mine = &x[padded(t * ITEMS_PER_THREAD)];
#pragma unroll
    for (int k = 1; k < ITEMS_PER_THREAD; ++k) mine[k] = op(mine[k - 1], mine[k]);
    sums[0][t] = mine[ITEMS_PER_THREAD - 1];
    int from = 0;
    for (int stride = 1; stride < BLOCK_THREADS; stride <<= 1, from ^= 1) {
        __syncthreads();
        sums[from ^ 1][t] = t < stride ? sums[from][t] : op(sums[from][t - stride], sums[from][t]);
    }
    __syncthreads();
    if (t > 0) {
        const T before = sums[from][t - 1];
        for (int k = 0; k < ITEMS_PER_THREAD; ++k) mine[k] = op(before, mine[k]);
    }
    __syncthreads();
}

struct TilePrefix {
    Word* status;

    template <class T, class Op>
    __device__ T operator()(int tile, Op op) const {
        const int lane = threadIdx.x & 31;
        T exclusive = op.identity();
        int predecessor = tile - 32 + lane;  // the last lane polls the nearest one
        bool found;
        do {
            T value = op.identity();
            State state = predecessor < 0 ? prefix : nothing;
            while (__any_sync(0xffffffffu, state == nothing))
                if (state == nothing) state = observe(status, predecessor, value);
            const unsigned prefixes = __ballot_sync(0xffffffffu, state == prefix);
            found = prefixes != 0;
            const int nearest = found ? 31 - __clz(prefixes) : 0;
            if (lane < nearest) value = op.identity();
#pragma unroll
            for (int delta = 1; delta < 32; delta <<= 1) {
                // Each lane combines its sum with the one before it: in the end, the last lane has the total.
                const T left = shuffle(value, max(lane - delta, 0));
                if (lane >= delta) value = op(left, value);
            }
            exclusive = op(shuffle(value, 31), exclusive);
            predecessor -= 32;
        } while (!found);
        return exclusive;
    }
};

template <class T, class Op>
__global__ void look_back_kernel(const T* in, T* out, int n, Kind kind, Word* status, int* tiles_started, Op op) {
    __shared__ T x[padded(TILE_ITEMS)];
    __shared__ T tile_prefix;
    __shared__ int tile_number;
    if (threadIdx.x == 0) tile_number = atomicAdd(tiles_started, 1);
    __syncthreads();
    const int tile = tile_number;
    const int begin = tile * TILE_ITEMS;
    const int shift = kind == Kind::exclusive ? 1 : 0;
    for (int e = threadIdx.x; e < TILE_ITEMS; e += BLOCK_THREADS) {
        const int i = begin + e - shift;
        x[padded(e)] = i >= 0 && i < n ? in[i] : op.identity();
    }
    __syncthreads();
    block_scan(x, op);
    if (threadIdx.x < 32) {
        const T sum = x[padded(TILE_ITEMS - 1)];
        if (threadIdx.x == 0) publish(status, tile, tile == 0 ? prefix : aggregate, sum);
        const T before = tile == 0 ? op.identity() : TilePrefix{status}.template operator()<T>(tile, op);
        if (threadIdx.x == 0) {
            if (tile > 0) publish(status, tile, prefix, op(before, sum));
            tile_prefix = before;
        }
    }
    __syncthreads();
    const T before = tile_prefix;
    for (int e = threadIdx.x; e < TILE_ITEMS && begin + e < n; e += BLOCK_THREADS)
        out[begin + e] = op(before, x[padded(e)]);
}

template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op) {
    const int tiles = ceil_div(n, TILE_ITEMS);
    if (tiles == 0) return;
    Word* const status = reinterpret_cast<Word*>(workspace);
    int* const started = reinterpret_cast<int*>(status + tiles * words<T>);
    check(cudaMemsetAsync(status, 0, tiles * words<T> * sizeof(Word) + sizeof(int)));
    look_back_kernel<<<tiles, BLOCK_THREADS>>>(in, out, n, kind, status, started, op);
    check(cudaGetLastError());
}
