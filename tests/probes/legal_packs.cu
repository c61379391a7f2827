// As many parameters as are given.
template <class... T> __device__ int sum(T... t) { return (t + ...); }
__global__ void k(int* p) { p[0] = sum(1, 2, 3); }
