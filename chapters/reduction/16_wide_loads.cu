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
    // As in 15: five rounds of __shfl_down_sync, with strides from 16 down to 1, in which all 32 lanes take
    // part.
    kata::open();
    return value;
    // kata: end
}

/// Returns the values of all threads of the block, combined, in thread 0.
template <class T, class Op>
__device__ T reduce_block(T value, Op op) {
    // kata: begin
    // As in 15: each warp reduces its values, and after a barrier the first warp reduces their results.
    kata::open();
    return value;
    // kata: end
}

/// Returns the thread's own elements, combined.
template <class T, class Op>
__device__ T reduce_thread(const T* in, int n, Op op) {
    // kata: begin
    // With reinterpret_cast, `in` is an array of Pack<T>, of which n / Pack<T>::width are full. Thread t of a
    // block takes the packs t, t + block_dim, … of its segment. In a whole segment it first loads all `loads`
    // of them into an array and then combines their elements, both in unrolled loops, so that the array is
    // in registers. In a segment that is not whole it takes one pack after the other. The last
    // n % Pack<T>::width elements fill no pack: one block combines them, too.
    kata::open();
    return op.identity();
    // kata: end
}

template <class T, class Op>
__global__ void wide_loads(const T* in, T* out, int n, Op op) {
    // kata: begin
    // reduce_thread, reduce_block, and an atomic of thread 0.
    kata::open();
    // kata: end
}

template <class T, class Op>
void reduce(const T* in, T* out, int n, Op op) {
    // kata: begin
    // As in 04, with a block for each segment of packs. Fewer elements than fill a pack need a block, too.
    // Also required: any n from 0 to the largest int; int, float and double; sums and maxima.
    kata::open();
    // kata: end
}
