// The listing of REDUCE-vi 2: threads beyond the end leave before the barrier that the others wait at, and
// thread 0 of an empty input leaves without a result.
//
// Rejected: divergent barrier
// On a GPU: no element of the output was ever written
#include "kata.hpp"
#include "operators.hpp"
#include "reduction.hpp"

constexpr int block = 512;  // threads, and elements of a block

template <class T, class Op>
__global__ void neighbored(T* in, T* out, int n, Op op) {
    T* const data = in + blockIdx.x * block;  // the block's own
    const int length = n - blockIdx.x * block;
    const int t = threadIdx.x;
    if (t >= length) return;
    for (int stride = 1; stride < block; stride *= 2) {
        if (t % (2 * stride) == 0 && t + stride < length) data[t] = op(data[t], data[t + stride]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = length > 0 ? data[0] : op.identity();
}

template <class T, class Op>
void reduce(T* in, T* out, int n, T* partials, Op op) {
    while (n > block) {
        const int blocks = ceil_div(n, block);
        launch(neighbored<T, Op>, {blocks, block}, in, partials, n, op);
        n = blocks;
        in = partials;
        partials += blocks;  // the next launch reads these, and must not write over them
    }
    launch(neighbored<T, Op>, {1, block}, in, out, n, op);
}

void reduce(void* in, void* out, int n, void* workspace, kata::Operation operation) {
    with_operator(reduction::Offered{}, operation, in, out, [&](auto in, auto out, auto op) {
        reduce(in, out, n, static_cast<decltype(out)>(workspace), op);
    });
}
