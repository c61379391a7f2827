// 06 Neighbored: the second ladder begins, with neighbouring pairs and an element a thread. Mirrors REDUCE-
// vi 2; its listing lets threads beyond the end leave before a barrier, adds what lies there, and leaves the
// partial results to the CPU. Changed against 01: every other thread is without work from the first round
// on.
#include "kata.hpp"
#include "operators.hpp"
#include "reduction.hpp"

constexpr int block = 512;  // threads, and elements of a block

template <class T, class Op>
__global__ void neighbored(T* in, T* out, int n, Op op) {
    // kata: begin
    T* const data = in + blockIdx.x * block;  // the block's own
    const int length = n - blockIdx.x * block;
    const int t = threadIdx.x;
    for (int stride = 1; stride < block; stride *= 2) {
        if (t % (2 * stride) == 0 && t + stride < length) data[t] = op(data[t], data[t + stride]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = length > 0 ? data[0] : op.identity();
    // kata: end
}

template <class T, class Op>
void reduce(T* in, T* out, int n, T* partials, Op op) {
    // kata: begin
    while (n > block) {
        const int blocks = ceil_div(n, block);
        launch(neighbored<T, Op>, {blocks, block}, in, partials, n, op);
        n = blocks;
        in = partials;
        partials += blocks;  // the next launch reads these, and must not write over them
    }
    launch(neighbored<T, Op>, {1, block}, in, out, n, op);
    // kata: end
}

void reduce(void* in, void* out, int n, void* workspace, kata::Operation operation) {
    with_operator(reduction::Offered{}, operation, in, out, [&](auto in, auto out, auto op) {
        reduce(in, out, n, static_cast<decltype(out)>(workspace), op);
    });
}
