// Included by steps 01 and 02: the elements, and what calls a step for each type of them. Not to be changed:
// grading takes the repository's own.
#pragma once
#include "elements.cuh"

/// Defined by these steps: the sorted lists `a`, of m elements, and `b`, of n, are merged into `out`. From
/// equal keys those of `a` come first, and each list keeps its order.
template <class T>
void merge_lists(const T* a, int m, const T* b, int n, T* out);

void merge_lists(const void* a, int m, const void* b, int n, void* out, sort::Type type) {
    with_type(type, [&]<class T>(T*) {
        merge_lists(static_cast<const T*>(a), m, static_cast<const T*>(b), n, static_cast<T*>(out));
    });
}
