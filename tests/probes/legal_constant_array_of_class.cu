// illegal: 'w' is a variable of the host
struct S { static constexpr float w[3] = {1,2,3}; static constexpr int n = 3; static const int m = 4; };
__global__ void k(float*p) { p[0] = S::w[(int)p[1]]; }
