// Template arguments that end in >>> between the <<< and >>> of a launch.
#include "kata.hpp"

template <int n> struct B { static constexpr int value = n; };
template <class T> struct A { static constexpr int value = 3; };
__global__ void k(float* out, int n) { out[threadIdx.x] = n; }

void f(float* out, int n) {
    k<<<A<A<B<4>>>::value, 2>>>(out, n);
    k<<<(A<A<B<4>>>::value), A<A<B<4>>>::value>>>(out, n);
}
