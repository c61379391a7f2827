// Functions for both sides, called from both.
int count; int& counter() { return count; } __host__ __device__ int twice(int x) { return 2 * x; } 
template <class T> __host__ __device__ T thrice(T x) { return 3 * x; } int h() { return thrice(twice(counter())); } __global__ void k(int* p) { p[0] = thrice(twice(p[1])); }
