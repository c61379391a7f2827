// Kernels in namespaces, by their full names.
#include "kata.hpp"

namespace a {
__global__ void k(float* out) { out[0] = 1; }
template <int n, class T> __global__ void t(T* out) { out[0] = n; }
namespace b { __global__ void k(float* out) { out[0] = 2; } }
inline namespace c { template <class T> __global__ void u(T* out) { out[0] = 3; } }
}
namespace { __global__ void hidden(float* out) { out[0] = 4; } }
template <class T> __global__ void global(T* out) { out[0] = 5; }
void f(float* out) {
    a::k<<<1, 2>>>(out);
    a::t<4><<<1, 2>>>(out);
    a::t<4, float><<<1, 2>>>(out);
    a::b::k<<<1, 2>>>(out);
    a::u<<<1, 2>>>(out);
    ::a::u<float><<<1, 2>>>(out);
    ::a :: k<<<1, 2>>>(out);
    hidden<<<1, 2>>>(out);
    ::global<<<1, 2>>>(out);
    if (out) ::global<float><<<1, 2>>>(out);
    using namespace a;
    t<4><<<1, 2>>>(out);
}
