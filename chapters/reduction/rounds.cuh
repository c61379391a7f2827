// Included by steps whose blocks leave a partial result each: CUDA C++ on either back end, check(),
// ceil_div(), the operators, and the loop that reduces the partial results by the same kernel, until there is
// one. Not to be changed: grading takes the repository's own.
#pragma once
#include "kata.hpp"
#include "operators.hpp"
#include "reduction.hpp"

/// The number of elements that a block reduces: 512 or more, because the workspace has no room for more
/// partial results. Each step defines it: constexpr int segment = …
extern const int segment;

/// Defined by such a step: one launch, of a block for each `segment` elements; the last block may have fewer.
/// Block b leaves the result of its segment in out[b]. n is at least 1; `in` may be overwritten.
template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op);

/// *out = in[0] ∘ in[1] ∘ … ∘ in[n − 1], where a ∘ b is op(a, b), and op.identity() for n = 0.
template <class T, class Op>
void reduce(T* in, T* out, int n, T* workspace, Op op) {
    if (n == 0) {
        const T identity = op.identity();
        check(cudaMemcpy(out, &identity, sizeof identity, cudaMemcpyHostToDevice));
        return;
    }
    while (n > segment) {
        reduce_segments(in, workspace, n, op);
        n = ceil_div(n, segment);
        in = workspace;
        workspace += n;  // the next launch reads these, and must not write over them
    }
    reduce_segments(in, out, n, op);
}

void reduce(void* in, void* out, int n, void* workspace, kata::Operation operation) {
    with_operator(reduction::Offered{}, operation, in, out, [&]<class T>(T* in, T* out, auto op) {
        reduce(in, out, n, static_cast<T*>(workspace), op);
    });
}
