// The book's listing: the array is read and written through a temporary between two barriers, in dynamic shared memory.
#include "sections.cuh"

template <class T, class Op>
__global__ void Kogge_Stone_scan_kernel(const T* X, T* Y, unsigned int N, bool inclusive, Op op) {
    extern __shared__ __align__(16) char memory[];
    T* XY = (T*)memory;
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (inclusive) {
        XY[threadIdx.x] = i < N ? X[i] : op.identity();
    } else if (i < N && threadIdx.x != 0) {
        XY[threadIdx.x] = X[i - 1];
    } else {
        XY[threadIdx.x] = op.identity();
    }
    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        __syncthreads();
        T temp = XY[threadIdx.x];
        if (threadIdx.x >= stride) temp = op(XY[threadIdx.x - stride], temp);
        __syncthreads();
        if (threadIdx.x >= stride) XY[threadIdx.x] = temp;
    }
    if (i < N) Y[i] = XY[threadIdx.x];
}

template <class T, class Op>
void scan_sections(const T* in, T* out, int n, int section, Kind kind, Op op) {
    if (n == 0) return;
    const int blocks = (n + section - 1) / section;
    Kogge_Stone_scan_kernel<<<blocks, section, section * sizeof(T)>>>(in, out, n, kind == Kind::inclusive, op);
    check(cudaGetLastError());
}
