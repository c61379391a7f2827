// An element of a class's constant array is a number.
struct S { static constexpr float w[3] = {1,2,3}; };
__global__ void k(float* p) { p[0] = S::w[1]; }
