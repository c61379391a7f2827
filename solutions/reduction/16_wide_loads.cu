// 16 Wide loads: 16 bytes at a time, and four such loads of a thread in flight at once. Beyond the documents;
// in CUB it is ConsumeFullTile of AgentReduce. Changed from 15: a quarter of the load instructions for
// floats, half of them for doubles, and none of them waits for the one before. The same bytes and sectors.
#include "reduction.cuh"

constexpr int block_dim = 1024;             // threads of a block
constexpr int loads = 4;                    // per thread
constexpr int segment = loads * block_dim;  // packs that a block reduces

/// As many elements as one load takes. The alignment makes it one load.
template <class T>
struct alignas(16) Pack {
    static constexpr int width = 16 / sizeof(T);
    T x[width];
};

/// Returns the values of all lanes, combined, in lane 0.
template <class T, class Op>
__device__ T reduce_warp(T value, Op op) {
    // kata: begin
    // As in 15. All lanes take part in every round, also those whose result is not used: the mask names 32.
    for (int stride = 16; stride > 0; stride /= 2) value = op(value, __shfl_down_sync(~0u, value, stride));
    return value;
    // kata: end
}

/// Returns the values of all threads of the block, combined, in thread 0.
template <class T, class Op>
__device__ T reduce_block(T value, Op op) {
    // kata: begin
    __shared__ T of_warp[block_dim / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    value = reduce_warp(value, op);
    // One value per warp goes through shared memory, and the first warp reduces those in the same way.
    if (lane == 0) of_warp[warp] = value;
    __syncthreads();
    if (warp == 0) value = reduce_warp(lane < block_dim / 32 ? of_warp[lane] : op.identity(), op);
    return value;
    // kata: end
}

/// Returns the thread's own elements, combined.
template <class T, class Op>
__device__ T reduce_thread(const T* in, int n, Op op) {
    // kata: begin
    constexpr int width = Pack<T>::width;
    // cudaMalloc aligns its memory to 256 bytes; an address in the middle of an array need not be aligned.
    const auto* const packs = reinterpret_cast<const Pack<T>*>(in);
    const int whole = n / width;  // packs that are full
    const int t = threadIdx.x, begin = blockIdx.x * segment, first = begin + t;
    T value = op.identity();
    const auto combine = [&](Pack<T> pack) {  // a copy, in registers
        for (T x : pack.x) value = op(value, x);
    };
    // In a whole segment no load needs a test, so that all four can be issued one after the other. The last
    // segment goes pack by pack.
    if (whole - begin >= segment) {  // the same for all threads of the block
        Pack<T> pack[loads];         // in registers, as both loops are unrolled
#pragma unroll
        for (int k = 0; k < loads; ++k) pack[k] = packs[first + k * block_dim];  // all are issued …
#pragma unroll
        for (int k = 0; k < loads; ++k) combine(pack[k]);  // … before the first is needed
    } else {
        for (int i = first; i < whole; i += block_dim) combine(packs[i]);
    }
    // The elements at the end that fill no pack, fewer than a pack has. One block takes them, or each would.
    if (blockIdx.x == 0 && t < n % width) value = op(value, in[whole * width + t]);
    return value;
    // kata: end
}

template <class T, class Op>
__global__ void wide_loads(const T* in, T* out, int n, Op op) {
    // kata: begin
    const T value = reduce_block(reduce_thread(in, n, op), op);
    if (threadIdx.x == 0) atomic_combine(out, value, op);
    // kata: end
}

template <class T, class Op>
void reduce(const T* in, T* out, int n, Op op) {
    // kata: begin
    const T identity = op.identity();
    // From memory that is not pinned: copied before the call returns, so that `identity` may go.
    check(cudaMemcpyAsync(out, &identity, sizeof identity, cudaMemcpyHostToDevice));
    if (n == 0) return;
    // At least one block: a few elements fill no pack.
    wide_loads<<<max(1, ceil_div(n / Pack<T>::width, segment)), block_dim>>>(in, out, n, op);
    check(cudaGetLastError());
    // kata: end
}
