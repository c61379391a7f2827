// The book's names, flags[bid + 1] and scan_value[bid + 1], which a kernel zeroes, and sections of 2048
// elements.
#include "whole.cuh"

#define BLOCK 256
#define COARSE 8
#define SECTION (BLOCK * COARSE)

__global__ void reset(unsigned* flags, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) flags[i] = 0;
}

template <class T, class Op>
__global__ void stream_scan(const T* X, T* Y, int n, Kind kind, T* scan_value, unsigned* flags, unsigned* blockCounter, Op op) {
    __shared__ T XY[padded(SECTION)];
    __shared__ T ends[BLOCK];
    __shared__ unsigned bid_s;
    __shared__ T previous_sum;
    const int tid = threadIdx.x;
    if (tid == 0) bid_s = atomicAdd(blockCounter, 1u);
    __syncthreads();
    const unsigned bid = bid_s;
    const int base = bid * SECTION;
    for (int j = 0; j < COARSE; ++j) {
        const int e = j * BLOCK + tid;
        XY[padded(e)] = base + e < n ? X[base + e] : op.identity();
    }
    __syncthreads();

    T local[COARSE];
    local[0] = XY[padded(tid * COARSE)];
    for (int j = 1; j < COARSE; ++j) local[j] = op(local[j - 1], XY[padded(tid * COARSE + j)]);
    T mine = local[COARSE - 1];
    ends[tid] = mine;
    for (int stride = 1; stride < BLOCK; stride *= 2) {
        __syncthreads();
        T temp = mine;
        if (tid >= stride) temp = op(ends[tid - stride], mine);
        __syncthreads();
        mine = temp;
        ends[tid] = mine;
    }
    __syncthreads();

    if (tid == 0) {
        T before = op.identity();
        if (bid > 0) {
            while (atomicAdd(&flags[bid], 0u) == 0u) {
            }
            __threadfence();
            before = scan_value[bid];
        }
        scan_value[bid + 1] = op(before, ends[BLOCK - 1]);
        __threadfence();
        atomicAdd(&flags[bid + 1], 1u);
        previous_sum = before;
    }
    __syncthreads();

    T left = tid > 0 ? op(previous_sum, ends[tid - 1]) : previous_sum;
    for (int j = 0; j < COARSE; ++j) {
        if (kind == Kind::inclusive)
            XY[padded(tid * COARSE + j)] = op(left, local[j]);
        else
            XY[padded(tid * COARSE + j)] = j > 0 ? op(left, local[j - 1]) : left;
    }
    __syncthreads();
    for (int j = 0; j < COARSE; ++j) {
        const int e = j * BLOCK + tid;
        if (base + e < n) Y[base + e] = XY[padded(e)];
    }
}

template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op) {
    if (n == 0) return;
    const int blocks = (n - 1) / SECTION + 1;
    T* scan_value = workspace;
    unsigned* flags = (unsigned*)(scan_value + blocks + 1);
    unsigned* blockCounter = flags + blocks + 1;
    reset<<<(blocks + 2 + 255) / 256, 256>>>(flags, blocks + 2);
    check(cudaGetLastError());
    stream_scan<<<blocks, BLOCK>>>(in, out, n, kind, scan_value, flags, blockCounter, op);
    check(cudaGetLastError());
}
