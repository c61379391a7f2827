// The book's two loops over unsigned strides, and two loads and stores without a loop.
#include "sections.cuh"

#define SECTION_SIZE 1024

template <class T, class Op>
__device__ T input_of(const T* X, unsigned int i, unsigned int first, unsigned int N, bool exclusive, Op op) {
    if (i >= N) return op.identity();
    if (!exclusive) return X[i];
    return i == first ? op.identity() : X[i - 1];
}

template <class T, class Op>
__global__ void Brent_Kung_scan_kernel(const T* X, T* Y, unsigned int N, bool exclusive, Op op) {
    __shared__ T XY[SECTION_SIZE];
    const unsigned int section = 2 * blockDim.x, first = section * blockIdx.x;
    unsigned int i = first + threadIdx.x;
    XY[threadIdx.x] = input_of(X, i, first, N, exclusive, op);
    XY[threadIdx.x + blockDim.x] = input_of(X, i + blockDim.x, first, N, exclusive, op);
    for (unsigned int stride = 1; stride <= blockDim.x; stride *= 2) {
        __syncthreads();
        unsigned int index = (threadIdx.x + 1) * 2 * stride - 1;
        if (index < section) {
            XY[index] = op(XY[index - stride], XY[index]);
        }
    }
    for (int stride = section / 4; stride > 0; stride /= 2) {
        __syncthreads();
        unsigned int index = (threadIdx.x + 1) * stride * 2 - 1;
        if (index + stride < section) {
            XY[index + stride] = op(XY[index], XY[index + stride]);
        }
    }
    __syncthreads();
    if (i < N) Y[i] = XY[threadIdx.x];
    if (i + blockDim.x < N) Y[i + blockDim.x] = XY[threadIdx.x + blockDim.x];
}

template <class T, class Op>
void scan_sections(const T* in, T* out, int n, int section, Kind kind, Op op) {
    if (n == 0) return;
    Brent_Kung_scan_kernel<<<ceil_div(n, section), section / 2>>>(in, out, (unsigned)n, kind == Kind::exclusive, op);
    check(cudaGetLastError());
}
