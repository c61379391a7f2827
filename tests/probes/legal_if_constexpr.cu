// Templates that call themselves.
template <int N> __device__ int fact() { if constexpr (N <= 1) return 1; else return N * fact<N - 1>(); }
template <int N> struct F { static const int value = N * F<N-1>::value; }; template <> struct F<0> { static const int value = 1; };
__global__ void k(int* p) { p[0] = fact<5>() + F<4>::value; }
