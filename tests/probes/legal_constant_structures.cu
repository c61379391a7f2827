// A member of a constant structure is a number.
struct P { int x, y; }; constexpr P o[2] = {{1,2},{3,4}};
__global__ void k(float* p) { p[0] = o[1].x; }
