// Functions, kernels and variables may be called launch.
#include "kata.hpp"

__global__ void launch_kernel(float* out) { out[0] = 1; }
namespace mine {
void launch(float* out, int n) { launch_kernel<<<1, n>>>(out); }
}
void f(float* out) { mine::launch(out, 3); }
