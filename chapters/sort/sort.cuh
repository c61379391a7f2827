// Included by the steps from 03 on: the elements, and what calls a step for each type of them. Not to be
// changed: grading takes the repository's own.
#pragma once
#include "elements.cuh"

/// Defined by these steps: the elements are sorted by key; those with the same key stay in their order.
/// `workspace` has room for n elements and, behind them, n + 2^17 bytes, in which anything may stand.
template <class T>
void sort_elements(const T* in, T* out, int n, T* workspace);

void sort_elements(const void* in, void* out, int n, void* workspace, sort::Type type) {
    with_type(type, [&]<class T>(T*) {
        sort_elements(static_cast<const T*>(in), static_cast<T*>(out), n, static_cast<T*>(workspace));
    });
}
