// Attributes in brackets, in front of what is for the device.
[[nodiscard]] __device__ int f(int x) { return x; }
__global__ void k(int* p, [[maybe_unused]] int n) { [[maybe_unused]] int m = 3; p[0] = f(n); }
