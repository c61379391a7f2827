// The ladder of a complete unroll: a template chosen by a switch.
#include "kata.hpp"

template <unsigned threads> __global__ void reduce(const float* in, float* out, int n) { out[0] = in[n - 1] + threads; }
void f(const float* in, float* out, int n, int threads) {
    const int bytes = threads * sizeof(float);
    switch (threads) {
        case 512: reduce<512><<<1, threads, bytes>>>(in, out, n); break;
        case 256: reduce<256><<<1, threads, bytes>>>(in, out, n); break;
        default: break;
    }
}
