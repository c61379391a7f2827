// A constexpr function for both sides, and one for the device.
__host__ __device__ constexpr int f(int x) { return x; } __device__ constexpr int g(int x) { return x + 1; } __global__ void k(int* p) { p[0] = f(3) + g(p[0]); constexpr int n = f(4) + g(2); p[1] = n; }
