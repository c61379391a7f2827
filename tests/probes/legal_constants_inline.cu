// Inline and static constants, and enumerations.
inline int gi = 4; inline constexpr int gc = 5; static const int gs = 6; enum { E = 3 }; enum class Q : int { a = 1};
__global__ void k(int*p) { p[0] = gc + gs + E + (int)Q::a; }
