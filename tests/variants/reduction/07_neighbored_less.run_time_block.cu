// Step 07 with the size of the block known when it runs, as the document has it: the compiler cannot write
// the rounds out, and a remainder is a division.
//
// Timed against: 06_neighbored.run_time_block
#include "kata.hpp"
#include "operators.hpp"
#include "reduction.hpp"

constexpr int block = 512;  // threads, and elements of a block

template <class T, class Op>
__global__ void neighbored_less(T* in, T* out, int n, Op op) {
    T* const data = in + blockIdx.x * block;
    const int length = n - blockIdx.x * block;
    for (int stride = 1; stride < static_cast<int>(blockDim.x); stride *= 2) {
        const int i = 2 * stride * threadIdx.x;
        if (i < block && i + stride < length) data[i] = op(data[i], data[i + stride]);
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = length > 0 ? data[0] : op.identity();
}

template <class T, class Op>
void reduce(T* in, T* out, int n, T* partials, Op op) {
    while (n > block) {
        const int blocks = ceil_div(n, block);
        launch(neighbored_less<T, Op>, {blocks, block}, in, partials, n, op);
        n = blocks;
        in = partials;
        partials += blocks;  // the next launch reads these, and must not write over them
    }
    launch(neighbored_less<T, Op>, {1, block}, in, out, n, op);
}

void reduce(void* in, void* out, int n, void* workspace, kata::Operation operation) {
    with_operator(reduction::Offered{}, operation, in, out, [&](auto in, auto out, auto op) {
        reduce(in, out, n, static_cast<decltype(out)>(workspace), op);
    });
}
