// 09 Unroll 2: a block first adds a second block of elements to its own. Mirrors REDUCE-vi 5, whose listing
// also adds what lies beyond the end in its last block. Changed against 08: half as many blocks, and before
// the tree begins every thread has work.
#include "kata.hpp"
#include "operators.hpp"
#include "reduction.hpp"

constexpr int block = 512;          // threads
constexpr int segment = 2 * block;  // elements of a block

template <class T, class Op>
__global__ void unroll2(T* in, T* out, int n, Op op) {
    // kata: begin
    T* const data = in + blockIdx.x * segment;
    const int length = n - blockIdx.x * segment;
    const int t = threadIdx.x;
    if (t + block < length) data[t] = op(data[t], data[t + block]);
    __syncthreads();
    for (int stride = block / 2; stride > 0; stride /= 2) {
        if (t < stride && t + stride < length) data[t] = op(data[t], data[t + stride]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = length > 0 ? data[0] : op.identity();
    // kata: end
}

template <class T, class Op>
void reduce(T* in, T* out, int n, T* partials, Op op) {
    // kata: begin
    while (n > segment) {
        const int blocks = ceil_div(n, segment);
        launch(unroll2<T, Op>, {blocks, block}, in, partials, n, op);
        n = blocks;
        in = partials;
        partials += blocks;  // the next launch reads these, and must not write over them
    }
    launch(unroll2<T, Op>, {1, block}, in, out, n, op);
    // kata: end
}

void reduce(void* in, void* out, int n, void* workspace, kata::Operation operation) {
    with_operator(reduction::Offered{}, operation, in, out, [&](auto in, auto out, auto op) {
        reduce(in, out, n, static_cast<decltype(out)>(workspace), op);
    });
}
