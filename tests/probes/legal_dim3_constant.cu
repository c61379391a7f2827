// A constant dim3 of the host.
constexpr dim3 tile(16, 16);
__global__ void k(float* p) { p[0] = tile.x * threadIdx.x; }
