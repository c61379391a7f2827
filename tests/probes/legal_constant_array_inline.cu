// illegal: 't' is a variable of the host
inline constexpr float t[3] = {1,2,3};
__global__ void k(float* p) { p[0] = t[2]; }
