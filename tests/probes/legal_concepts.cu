// Templates with requirements.
#include <concepts>
template <std::integral T> __global__ void k(T* p) { p[0] = 1; } 
template <class T> requires (sizeof(T) == 4) __device__ T f(T x) { return x; }
__global__ void g(int* p) { p[0] = f(3); }
void h(int* p) { k<<<1,1>>>(p); }
