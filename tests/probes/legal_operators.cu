// An operator of the device.
struct alignas(8) C { float x, y; }; __device__ C operator+(C a, C b) { return {a.x + b.x, a.y + b.y}; }
__global__ void k(C* p) { p[0] = p[0] + p[1]; }
