// Tiles pass through registers and not through shared memory: the next tile is loaded before the present ones
// are processed, and stays in the registers of its threads until it is scanned. Two tiles are summed ahead.
// Kernels before sm_80 were written like this.
#include "messages.cuh"

constexpr int warps = 16;  // warps that scan; one more adds up the sums of other blocks
constexpr int threads = 32 * (warps + 1);
constexpr int rows = 4;                   // rows of a tile that a warp scans
constexpr int packs = warps * rows * 32;  // per tile
constexpr int ahead = 2;
constexpr int stages = ahead + 2;  // a tile in flight, those summed ahead and the one that is scanned

/// As many elements as one load takes. The alignment makes it one load.
template <class T>
struct alignas(16) Pack {
    static constexpr int width = 16 / sizeof(T);
    T x[width];
};
template <class T>
constexpr int tile = packs* Pack<T>::width;  // elements

/// Returns the values of lanes 0 to this one, combined.
template <class T, class Op>
__device__ T scan_warp(T value, Op op) {
    const int lane = threadIdx.x % 32;
    for (int stride = 1; stride < 32; stride *= 2) {
        const T left = shuffle_up(value, stride);
        if (lane >= stride) value = op(left, value);
    }
    return value;
}

/// Returns the published sums of tiles `begin` up to `end`, without that one, combined, to all lanes of the
/// calling warp.
template <class T, class Op>
__device__ T sum_of_tiles(Word* status, int begin, int end, Op op) {
    const int lane = threadIdx.x % 32;
    T sum = op.identity();
    for (; begin < end; begin += 32) {
        T told = op.identity();
        bool there;
        do {
            there = begin + lane >= end || observe(status, begin + lane, told) != nothing;
        } while (__any_sync(~0u, !there));
        sum = op(sum, shuffle(scan_warp(told, op), 31));
    }
    return sum;
}

/// Returns the elements from i on; past the end of the input, identities.
template <class T, class Op>
__device__ Pack<T> load(const T* in, int i, int n, Op op) {
    if (n - i >= Pack<T>::width) return *reinterpret_cast<const Pack<T>*>(in + i);
    Pack<T> pack;
    for (int e = 0; e < Pack<T>::width; ++e) pack.x[e] = e < n - i ? in[i + e] : op.identity();
    return pack;
}

/// Stores the elements from i on, up to the end of the output.
template <class T>
__device__ void store(T* out, int i, int n, Pack<T> pack) {
    if (n - i >= Pack<T>::width) {
        *reinterpret_cast<Pack<T>*>(out + i) = pack;
    } else {
        for (int e = 0; e < Pack<T>::width; ++e)
            if (e < n - i) out[i + e] = pack.x[e];
    }
}

// `taken` counts the tiles that blocks have taken. A tile of the input has a number; the block counts its own
// by k, from 0 on.
template <class T, class Op>
__global__ void __launch_bounds__(threads)
    sums_ahead(const T* in, T* out, int n, Kind kind, Word* status, int* taken, Op op) {
    // So many are kept because slow warps may still read the values of two rounds before.
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
    Pack<T> held[stages][rows];  // the thread's packs of the same tiles, and of the next one
    T running = op.identity();  // the sum before tile `last`
    int last = 0;
    for (int k = -stages; k < share; ++k) {
        const int drawn = k + stages, loaded = drawn - 1, summed = k + ahead;
        if (warp == warps) {
            if (lane == 0 && drawn < share) number[drawn % numbered] = atomicAdd(taken, 1);
            if (exists(k)) {
                const int now = number[k % numbered];
                running = op(running, sum_of_tiles<T>(status, last, now, op));
                last = now;
                if (lane == 0) before_tile[k % 2] = running;
            }
        } else {
            if (exists(loaded))
#pragma unroll
                for (int r = 0; r < rows; ++r)
                    held[stages - 1][r] = load(in, element(loaded, mine + r * 32), n, op);
            if (exists(summed)) {
                T total = op.identity();
#pragma unroll
                for (int r = 0; r < rows; ++r) {
                    const Pack<T> pack = held[ahead][r];
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
        __syncthreads();  // the next number, the warps' sums and the sum before tile k are complete
        if (warp == warps) {
            if (exists(summed)) {
                const T sum = scan_warp(lane < warps ? of_warp[summed % kept][lane] : op.identity(), op);
                if (lane == 31) publish(status, number[summed % numbered], aggregate, sum);
            }
        } else if (exists(k)) {
            const T to_warp = scan_warp(lane < warps ? of_warp[k % kept][lane] : op.identity(), op);
            const T left = shuffle(to_warp, max(warp - 1, 0));
            const T before_warp = warp > 0 ? op(before_tile[k % 2], left) : before_tile[k % 2];
#pragma unroll
            for (int r = 0; r < rows; ++r) {
                Pack<T> pack = held[0][r];
                T value = op(before_warp, before[0][r]);
                for (T& x : pack.x) {
                    const T next = op(value, x);
                    x = kind == Kind::inclusive ? next : value;
                    value = next;
                }
                store(out, element(k, mine + r * 32), n, pack);
            }
        }
#pragma unroll
        for (int a = 0; a < ahead; ++a)
#pragma unroll
            for (int r = 0; r < rows; ++r) before[a][r] = before[a + 1][r];
#pragma unroll
        for (int a = 0; a < stages - 1; ++a)
#pragma unroll
            for (int r = 0; r < rows; ++r) held[a][r] = held[a + 1][r];
    }
}

template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op) {
    if (n == 0) return;
    const int tiles = ceil_div(n, tile<T>);
    auto* const status = reinterpret_cast<Word*>(workspace);
    auto* const taken = reinterpret_cast<int*>(status + tiles * words<T>);
    check(cudaMemset(status, 0, tiles * words<T> * sizeof *status + sizeof *taken));
    const auto kernel = sums_ahead<T, Op>;
    int processors = 0, blocks = 0;  // blocks that each multiprocessor runs at a time
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0));
    sums_ahead<<<min(tiles, processors * blocks), threads>>>(in, out, n, kind, status, taken, op);
    check(cudaGetLastError());
}
