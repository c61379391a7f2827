// Included by steps 01 to 04: CUDA C++ on either back end, check(), ceil_div(), the operators, and what
// calls a step for each type and operator. Not to be changed: grading takes the repository's own.
#pragma once
#include "kata.hpp"
#include "operators.hpp"
#include "scan.hpp"

/// Kind::inclusive: output i ends with input i. Kind::exclusive: it ends before it, and begins with the
/// identity.
using scan::Kind;

/// Defined by these steps: every `section` elements of `in` are scanned by themselves, with a ∘ b = op(a,
/// b), which need not commute. `section` is a power of two from 32 to scan::max_section.
template <class T, class Op>
void scan_sections(const T* in, T* out, int n, int section, Kind kind, Op op);

void scan_sections(const void* in, void* out, int n, int section, Kind kind, kata::Operation operation) {
    with_operator(scan::Offered{}, operation, in, out,
                  [&](auto in, auto out, auto op) { scan_sections(in, out, n, section, kind, op); });
}
