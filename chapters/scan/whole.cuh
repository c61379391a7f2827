// Included by the steps from 05 on: CUDA C++ on either back end, check(), ceil_div(), the operators, and
// what calls a step for each type and operator. Not to be changed: grading takes the repository's own.
#pragma once
#include "kata.hpp"
#include "operators.hpp"
#include "scan.hpp"

/// Kind::inclusive: output i ends with input i. Kind::exclusive: it ends before it, and begins with the
/// identity.
using scan::Kind;

/// Where element e of a section lies in shared memory: as in step 04, a place stays free after every 32
/// elements, against bank conflicts.
__device__ constexpr int padded(int e) { return e + e / 32; }

/// Defined by these steps: all n elements are scanned as one, with a ∘ b = op(a, b), which need not commute.
/// `workspace` has scan::workspace_bytes(n) bytes, aligned for every type, in which anything may stand.
template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op);

void scan_whole(const void* in, void* out, int n, Kind kind, void* workspace, kata::Operation operation) {
    with_operator(scan::Offered{}, operation, in, out, [&]<class T>(const T* in, T* out, auto op) {
        scan_whole(in, out, n, kind, static_cast<T*>(workspace), op);
    });
}
