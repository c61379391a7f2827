// Templates with requirements, and with concepts.
#include "kata.hpp"

#include <concepts>
template <class T> requires (sizeof(T) == 4) __global__ void k(T* out) { out[0] = 1; }
template <class T> requires std::integral<T> __global__ void k2(T* out) { out[0] = 1; }
template <std::floating_point T> __global__ void k3(T* out) { out[0] = 1; }
void f(float* out, int* numbers) {
    k<<<1, 2>>>(out);
    k<float><<<1, 2>>>(out);
    k2<<<1, 2>>>(numbers);
    k3<<<1, 2>>>(out);
}
