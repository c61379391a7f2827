// A constexpr function may be called outside of device code.
constexpr int f(int x) { return x + 1; }
__device__ int arr[f(3)];
template <int n = f(2)> __global__ void k(int* p) { __shared__ int s[n]; s[0] = n; p[0] = s[0]; }
template __global__ void k<4>(int*);
void h(int* p) { k<f(7)><<<1, f(3)>>>(p); }
