// The tree begins before all threads have combined their eight elements.
//
// Rejected: race in global memory
// On a GPU: nothing
#include "kata.hpp"
#include "operators.hpp"
#include "reduction.hpp"

constexpr int block = 512;          // threads
constexpr int segment = 8 * block;  // elements of a block

template <class T, class Op>
__global__ void unroll8(T* in, T* out, int n, Op op) {
    T* const data = in + blockIdx.x * segment;
    const int length = n - blockIdx.x * segment;
    const int t = threadIdx.x;
    if (segment <= length) {
        const T a1 = data[t], a2 = data[t + block], a3 = data[t + 2 * block], a4 = data[t + 3 * block];
        const T b1 = data[t + 4 * block], b2 = data[t + 5 * block], b3 = data[t + 6 * block],
                b4 = data[t + 7 * block];
        data[t] = op(op(op(a1, a2), op(a3, a4)), op(op(b1, b2), op(b3, b4)));
    } else {
        for (int i = t + block; i < length; i += block) data[t] = op(data[t], data[i]);
    }
    for (int stride = block / 2; stride > 0; stride /= 2) {
        if (t < stride && t + stride < length) data[t] = op(data[t], data[t + stride]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = length > 0 ? data[0] : op.identity();
}

template <class T, class Op>
void reduce(T* in, T* out, int n, T* partials, Op op) {
    while (n > segment) {
        const int blocks = ceil_div(n, segment);
        launch(unroll8<T, Op>, {blocks, block}, in, partials, n, op);
        n = blocks;
        in = partials;
        partials += blocks;  // the next launch reads these, and must not write over them
    }
    launch(unroll8<T, Op>, {1, block}, in, out, n, op);
}

void reduce(void* in, void* out, int n, void* workspace, kata::Operation operation) {
    with_operator(reduction::Offered{}, operation, in, out, [&](auto in, auto out, auto op) {
        reduce(in, out, n, static_cast<decltype(out)>(workspace), op);
    });
}
