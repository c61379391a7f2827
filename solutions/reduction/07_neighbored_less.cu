// 07 Neighbored, less divergence: the same pairs, taken by the first threads of the block. Mirrors REDUCE-vi
// 3; its listing has the faults of 06, and its text is wrong about registers: all of this happens in global
// memory. Changed against 06: the thread's number chooses the pair and not the element, so that whole warps
// are without work instead of most lanes of every warp.
#include "kata.hpp"
#include "operators.hpp"
#include "reduction.hpp"

constexpr int block = 512;  // threads, and elements of a block

template <class T, class Op>
__global__ void neighbored_less(T* in, T* out, int n, Op op) {
    // kata: begin
    T* const data = in + blockIdx.x * block;
    const int length = n - blockIdx.x * block;
    for (int stride = 1; stride < block; stride *= 2) {
        const int i = 2 * stride * threadIdx.x;
        if (i < block && i + stride < length) data[i] = op(data[i], data[i + stride]);
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = length > 0 ? data[0] : op.identity();
    // kata: end
}

template <class T, class Op>
void reduce(T* in, T* out, int n, T* partials, Op op) {
    // kata: begin
    while (n > block) {
        const int blocks = ceil_div(n, block);
        launch(neighbored_less<T, Op>, {blocks, block}, in, partials, n, op);
        n = blocks;
        in = partials;
        partials += blocks;  // the next launch reads these, and must not write over them
    }
    launch(neighbored_less<T, Op>, {1, block}, in, out, n, op);
    // kata: end
}

void reduce(void* in, void* out, int n, void* workspace, kata::Operation operation) {
    with_operator(reduction::Offered{}, operation, in, out, [&](auto in, auto out, auto op) {
        reduce(in, out, n, static_cast<decltype(out)>(workspace), op);
    });
}
