// Shared by the steps from 04 on: the contents of softmax.cuh, and a call for each head size. Not to be
// changed: grading takes the repository's own.
#pragma once
#include "softmax.cuh"

/// Calls body<d>() for a head size.
template <class Body>
void with_head_size(int d, Body body) {
    if (d == 64) body.template operator()<64>();
    if (d == 128) body.template operator()<128>();
}

/// Returns 1 / √d, by which a product of a query and a key is multiplied.
template <int d>
constexpr float scale = d == 64 ? 0.125f : 0.0883883476f;
