// A function with any number of parameters.
template <class... T> __device__ int sum(T... t) { return (t + ...); }
__global__ void k(int* p) { p[0] = sum(1, 2, 3); }
