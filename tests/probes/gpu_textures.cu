// needs a GPU: the CPU back end has no textures
#include "kata.hpp"

__global__ void k(cudaTextureObject_t t, float* out) { out[0] = tex2D<float>(t, 0.5f, 0.5f); }
void f(cudaTextureObject_t t, float* out) { k<<<1, 2>>>(t, out); }
