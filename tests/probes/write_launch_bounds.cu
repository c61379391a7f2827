// __launch_bounds__ before or after the return type, in a declaration and with a template's parameter.
#include "kata.hpp"
#define THREADS 64
template <int T>
__global__ void __launch_bounds__(T) templated(int* out) {
    out[threadIdx.x] = 1;
}
__launch_bounds__((THREADS > 32) ? THREADS : 32, 2) __global__ void in_front(int* out) { out[threadIdx.x] = 2; }
__global__ void __launch_bounds__(THREADS) declared(int* out);
__global__ void __launch_bounds__(THREADS /* of them */) declared(int* out) { out[threadIdx.x] = 3; }
extern "C" void f(int* out) {
    templated<32><<<1, 32>>>(out);
    in_front<<<1, 64>>>(out);
    declared<<<1, 64>>>(out);
}
