// A kernel in a namespace, with a tile that is a default argument of its template, and 32 x 32 threads: usual in libraries.
#include "gemm.cuh"

namespace linalg {

struct View {
    const float* data;
    int rows, cols;
    __device__ float at(int row, int col) const {
        return row < rows && col < cols ? data[static_cast<size_t>(row) * cols + col] : 0.0f;
    }
};

template <int Tile = 32>
__global__ void multiply(View a, View b, float* c) {
    __shared__ __align__(16) float as[Tile * Tile], bs[Tile * Tile];
    const int x = threadIdx.x, y = threadIdx.y, local = y * Tile + x;
    const int row = blockIdx.y * Tile + y, col = blockIdx.x * Tile + x;
    float sum = 0;
    for (int first = 0; first < a.cols; first += Tile) {
        as[local] = a.at(row, first + x);
        bs[local] = b.at(first + y, col);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < Tile; ++i) sum += as[y * Tile + i] * bs[i * Tile + x];
        __syncthreads();
    }
    if (row < a.rows && col < b.cols) c[static_cast<size_t>(row) * b.cols + col] = sum;
}

}  // namespace linalg

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    const dim3 grid(ceil_div(n, 32), ceil_div(m, 32));
    linalg::multiply<><<<grid, dim3(32, 32)>>>(linalg::View{a, m, k}, linalg::View{b, k, n}, c);
    check(cudaGetLastError());
}
