// The size of a host array, and an element of it in a constant.
constexpr float t[3] = {1, 2, 3};
__global__ void k(float* p) { constexpr float a = t[1]; static_assert(t[2] == 3); p[0] = a + sizeof(t); }
