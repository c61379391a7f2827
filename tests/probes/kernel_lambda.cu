// Launches from a lambda and from a member function.
#include "kata.hpp"

__global__ void k(float* out, int n) { out[threadIdx.x] = n; }
template <int n, class T>
__global__ void t(T* out) {
    out[threadIdx.x] = n;
}

struct Runner {
    float* out;
    template <class T> static __device__ T one() { return 1; }
    void run(int n) { k<<<1, n>>>(out, n); t<4><<<1, n>>>(out); [&] { t<4><<<1, n>>>(out); }(); }
};
void f(float* out) { Runner{out}.run(2); }
