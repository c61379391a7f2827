// A functor, and a function of the device, as the argument of a kernel.
#include "kata.hpp"

struct Scale { float by; __device__ float operator()(float x) const { return by * x; } };
template <class F> __global__ void apply(float* out, F f) { out[threadIdx.x] = f(out[threadIdx.x]); }
void f(float* out) { apply<<<1, 2>>>(out, Scale{2}); }
