// 10 Sums ahead: blocks stay, and publish the sum of a tile long before they scan it. Beyond the documents;
// CUB's newer scan, decoupled lookahead, is made of these ideas (CUDA 13.0 has the older one). Changed from
// 09: there are as many blocks as the GPU runs at a time, and each takes tile after tile. Asynchronous copies
// bring the next ones into shared memory meanwhile, so the memory is never idle. A block adds up each tile
// two rounds before it scans it. When the others need that sum, it has long been published, and hardly any
// block waits. A block knows the sum of all before its last tile, so it adds only the sums of later tiles:
// there is no prefix to look back for.
//
// Needs: sm_90, 193 KiB
#include "messages.cuh"

#include <cuda_pipeline.h>

constexpr int warps = 16;  // warps that scan; one more adds up the sums of other blocks
constexpr int threads = 32 * (warps + 1);
constexpr int rows = 6;                   // rows of a tile that a warp scans
constexpr int packs = warps * rows * 32;  // per tile
constexpr int stages = 4;  // tiles of a block on chip: one is scanned, two are summed, one is in flight
constexpr int ahead = 2;   // a tile is summed so many tiles before it is scanned
static_assert(stages >= ahead + 2, "a tile is in flight before it is summed");

/// As many elements as one load takes. The alignment makes it one load.
template <class T>
struct alignas(16) Pack {
    static constexpr int width = 16 / sizeof(T);
    T x[width];
};
template <class T>
constexpr int tile = packs* Pack<T>::width;  // elements

/// Returns the values of lanes 0 up to this one, combined.
template <class T, class Op>
__device__ T scan_warp(T value, Op op) {
    // kata: begin
    const int lane = threadIdx.x % 32;
    for (int stride = 1; stride < 32; stride *= 2) {
        const T left = shuffle_up(value, stride);
        if (lane >= stride) value = op(left, value);
    }
    return value;
    // kata: end
}

/// Returns the sums that tiles `begin` up to `end`, without that one, have published, combined; for all lanes
/// of the warp that calls it.
template <class T, class Op>
__device__ T sum_of_tiles(Word* status, int begin, int end, Op op) {
    // kata: begin
    constexpr int each = 5;  // per lane, all in flight at once: 160 tiles, where an H100 runs 132 blocks
    const int lane = threadIdx.x % 32;
    T sum = op.identity();
    // Waits until all these tiles have sums. The wait ends: the lowest tile without one belongs to a block
    // that, before it publishes, waits for lower tiles only.
    for (; begin < end; begin += 32 * each) {
        T told[each];
        bool all;
        do {
            all = true;
#pragma unroll
            for (int e = 0; e < each; ++e) {
                const int i = begin + e * 32 + lane;  // neighbouring lanes, neighbouring tiles
                told[e] = op.identity();
                if (i < end && observe(status, i, told[e]) == nothing) all = false;
            }
        } while (!__all_sync(~0u, all));
#pragma unroll
        for (int e = 0; e < each; ++e) {
            // Tile numbers rise from lane to lane, and not as in the look-back of 07, where they fall: what
            // lane + stride has is the right operand.
            for (int stride = 1; stride < 32; stride *= 2)
                told[e] = op(told[e], shuffle_down(told[e], stride));
            sum = op(sum, shuffle(told[e], 0));
        }
    }
    return sum;
    // kata: end
}

/// Begins to copy the elements from i on to the pack; past the end of the input, identities.
template <class T, class Op>
__device__ void begin_copy(Pack<T>& to, const T* in, int i, int n, Op op) {
    // kata: begin
    if (n - i >= Pack<T>::width)
        __pipeline_memcpy_async(&to, in + i, sizeof to);
    else
        for (int e = 0; e < Pack<T>::width; ++e) to.x[e] = e < n - i ? in[i + e] : op.identity();
    // kata: end
}

/// Stores the elements from i on, up to the end of the output.
template <class T>
__device__ void store(T* out, int i, int n, Pack<T> pack) {
    // kata: begin
    if (n - i >= Pack<T>::width) {
        *reinterpret_cast<Pack<T>*>(out + i) = pack;
    } else {
        for (int e = 0; e < Pack<T>::width; ++e)
            if (e < n - i) out[i + e] = pack.x[e];
    }
    // kata: end
}

// `taken` counts the tiles that blocks have taken. A tile of the input has a number; the block counts its own
// by k, from 0 on.
template <class T, class Op>
__global__ void __launch_bounds__(threads)
    sums_ahead(const T* in, T* out, int n, Kind kind, Word* status, int* taken, Op op) {
    // kata: begin
    extern __shared__ int4 dynamic[];
    auto* const on_chip = reinterpret_cast<Pack<T>*>(dynamic);  // tile k in slot k % stages
    // One barrier stands in the middle of a round. While a fast warp is in the first half of round k, a slow
    // one may be in the second half of round k - 1. In use are then the sums of tiles k - 1 to k + ahead, the
    // numbers of tiles k - 1 to k + stages, and the sums before tiles k - 1 and k.
    constexpr int kept = ahead + 2, numbered = stages + 2;
    __shared__ T of_warp[kept][warps], before_tile[2];
    __shared__ int number[numbered];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int mine = warp * rows * 32 + lane;  // the thread's first pack in a tile
    const int tiles = ceil_div(n, tile<T>);
    // The same for all blocks: the first to start must leave tiles to the others on any GPU.
    const int share = ceil_div(tiles, gridDim.x);
    const auto exists = [&](int k) { return k >= 0 && k < share && number[k % numbered] < tiles; };
    const auto element = [&](int k, int p) {
        return number[k % numbered] * tile<T> + p * Pack<T>::width;  // the first element of pack p
    };

    T before[ahead + 1][rows];  // the sums before the thread's packs in the warp, of tiles k to k + ahead
    T running = op.identity();  // the sum before tile `last`
    int last = 0;
    // In round k tile k + stages is numbered, the one before it is copied, tile k + ahead is summed, and tile
    // k is scanned. A number is read from the round after on, when a barrier has come between. Rounds below 0
    // fill the stages; exists() is false for tiles that are not there.
    for (int k = -stages; k < share; ++k) {
        const int drawn = k + stages, loaded = drawn - 1, summed = k + ahead;
        if (warp == warps) {
            if (lane == 0 && drawn < share) number[drawn % numbered] = atomicAdd(taken, 1);
            if (exists(k)) {
                const int now = number[k % numbered];
                // `running` is the sum of all tiles before the block's previous one, so the previous one is
                // the first to add.
                running = op(running, sum_of_tiles<T>(status, last, now, op));
                last = now;
                if (lane == 0) before_tile[k % 2] = running;
            }
        } else {
            // A thread copies what it reads itself, so it waits for no other thread, and none for it.
            // Slot loaded % stages had tile k - 1, which this thread has read for the last time in the round
            // before.
            if (exists(loaded))
#pragma unroll
                for (int p = mine; p < mine + rows * 32; p += 32)
                    begin_copy(on_chip[loaded % stages * packs + p], in, element(loaded, p), n, op);
            __pipeline_commit();  // also where there is no tile: the wait counts groups
            if (exists(summed)) {
                // A group is committed in each round, so all but the last loaded - summed = 1 have arrived:
                // tile `summed`, too.
                __pipeline_wait_prior(loaded - summed);
                T total = op.identity();
#pragma unroll
                for (int r = 0; r < rows; ++r) {
                    const Pack<T> pack = on_chip[summed % stages * packs + mine + r * 32];
                    T sum = pack.x[0];
                    for (int e = 1; e < Pack<T>::width; ++e) sum = op(sum, pack.x[e]);
                    const T up_to_here = scan_warp(sum, op);
                    const T left = shuffle_up(up_to_here, 1);
                    before[ahead][r] = lane > 0 ? op(total, left) : total;
                    total = op(total, shuffle(up_to_here, 31));
                }
                if (lane == 0) of_warp[summed % kept][warp] = total;
            }
        }
        __syncthreads();  // the next number, the warps' sums and the sum before tile k are there
        // The last warp publishes the sum of tile k + ahead, while the others scan tile k.
        if (warp == warps) {
            if (exists(summed)) {
                const T sum = scan_warp(lane < warps ? of_warp[summed % kept][lane] : op.identity(), op);
                if (lane == 31) publish(status, number[summed % numbered], aggregate, sum);
            }
        } else if (exists(k)) {
            // Each warp scans the warps' sums for itself, which spares a barrier. Lane warp - 1 has the sum
            // before the warp in the tile.
            const T to_warp = scan_warp(lane < warps ? of_warp[k % kept][lane] : op.identity(), op);
            const T left = shuffle(to_warp, max(warp - 1, 0));
            const T before_warp = warp > 0 ? op(before_tile[k % 2], left) : before_tile[k % 2];
#pragma unroll
            for (int r = 0; r < rows; ++r) {
                Pack<T> pack = on_chip[k % stages * packs + mine + r * 32];
                T value = op(before_warp, before[0][r]);
                for (T& x : pack.x) {
                    const T next = op(value, x);
                    x = kind == Kind::inclusive ? next : value;
                    value = next;
                }
                store(out, element(k, mine + r * 32), n, pack);
            }
        }
        // One round on: what was of tile k + 1 is now of tile k. Unrolled, the array is registers, and this
        // moves them.
#pragma unroll
        for (int a = 0; a < ahead; ++a)
#pragma unroll
            for (int r = 0; r < rows; ++r) before[a][r] = before[a + 1][r];
    }
    // kata: end
}

template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op) {
    // kata: begin
    if (n == 0) return;
    const int tiles = ceil_div(n, tile<T>);
    auto* const status = reinterpret_cast<Word*>(workspace);
    auto* const taken = reinterpret_cast<int*>(status + tiles * words<T>);
    check(cudaMemset(status, 0, tiles * words<T> * sizeof *status + sizeof *taken));
    constexpr int bytes = stages * packs * sizeof(Pack<T>);
    const auto kernel = sums_ahead<T, Op>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    int device = 0, processors = 0, blocks = 0;  // blocks that each multiprocessor runs at a time
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, bytes));
    sums_ahead<<<min(tiles, processors * blocks), threads, bytes>>>(in, out, n, kind, status, taken, op);
    check(cudaGetLastError());
    // kata: end
}
