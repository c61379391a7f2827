// A constant structure may be copied.
struct P { int x, y; }; constexpr P o{1,2};
__global__ void k(P* p) { p[0] = o; }
