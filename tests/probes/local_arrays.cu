// Local arrays, however they are declared, and what looks like one.
#include "kata.hpp"

constexpr int rows = 16;
struct Pair {
    float left, right;
};
template <class T>
struct Few {
    T values[4];
};

template <class T, int n> __global__ void k(const T* in, T* out, int length) {
    struct Local {
        float values[128];
    };
    const float table[128] = {1, 2, 3};
    __shared__ T tile[rows][rows];
    T sum[rows][rows] = {}, other[n], single = in[0];
    volatile float kept[128];
    unsigned long long int counts[64]{};
    Few<T> few[rows * rows], (*rest)[2] = nullptr;
    const T* places[rows][rows];
    Local all;
    if (length > 0) {
        Pair pairs[96];
        pairs[0].left = table[1];
        kept[0] = pairs[0].left;
    }
    for (int i = 0, all_of_them[80] = {}; i < length; ++i) all_of_them[i % 80] += i;
    for (int i = 0; i < n; ++i) other[i] = in[i], counts[i % 64] += 1;
    const auto at = [&](int i) {
        T copied[128] = {};
        copied[i] = other[i];
        return copied[i];
    };
    tile[0][0] = single;
    sum[0][1] = tile[0][0] + at(1);
    all.values[3] = 2;
    places[1][1] = in;
    few[0].values[0] = *places[1][1];
    out[0] = sum[0][1] + few[0].values[0] + static_cast<T>(kept[0]) + static_cast<T>(counts[1]) + static_cast<T>(all.values[3]) + (rest ? 1 : 0);
}
void f(const float* in, float* out) { k<float, 100><<<1, 1>>>(in, out, 100); }
