// Nothing asks whether there is an element at all: of an empty input, one is read.
//
// Rejected: out of bounds
// On a GPU: elements differ
#include "kata.hpp"
#include "operators.hpp"
#include "reduction.hpp"

constexpr int block = 1024;         // threads
constexpr int segment = 2 * block;  // elements of a block

template <class T, class Op>
__global__ void convergent(T* in, T* out, int n, Op op) {
    T* const data = in + blockIdx.x * segment;
    const int length = n - blockIdx.x * segment;
    const int t = threadIdx.x;
    for (int stride = block; stride > 0; stride /= 2) {
        if (t < stride && t + stride < length) data[t] = op(data[t], data[t + stride]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = data[0];
}

template <class T, class Op>
void reduce(T* in, T* out, int n, T* partials, Op op) {
    while (n > segment) {
        const int blocks = ceil_div(n, segment);
        launch(convergent<T, Op>, {blocks, block}, in, partials, n, op);
        n = blocks;
        in = partials;
        partials += blocks;  // the next launch reads these, and must not write over them
    }
    launch(convergent<T, Op>, {1, block}, in, out, n, op);
}

void reduce(void* in, void* out, int n, void* workspace, kata::Operation operation) {
    with_operator(reduction::Offered{}, operation, in, out, [&](auto in, auto out, auto op) {
        reduce(in, out, n, static_cast<decltype(out)>(workspace), op);
    });
}
