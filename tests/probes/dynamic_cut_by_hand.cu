// Bytes, cut up by hand.
#include "kata.hpp"

__global__ void k(float* out, int n) {
    extern __shared__ char raw[];
    float* const values = (float*)raw;
    int* counts = (int*)&values[n];
    double* sums = reinterpret_cast<double*>(raw + 2 * n * sizeof(float));
    values[0] = counts[0] = sums[0] = 1;
    out[0] = values[0];
}
void f(float* out, int n) { k<<<1, 32, n * (sizeof(float) + sizeof(int) + sizeof(double))>>>(out, n); }
