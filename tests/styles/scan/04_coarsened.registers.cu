// A subsection of eight is scanned in registers, and shared memory only passes it to the threads that store
// it: usual in CUB (BLOCK_LOAD_TRANSPOSE).
#include "sections.cuh"

#define ITEMS 8

__device__ constexpr int slot(int e) { return e + (e >> 5); }

template <class T, class Op>
__global__ void block_scan(const T* __restrict__ in, T* __restrict__ out, int n, Kind kind, Op op) {
    __shared__ T exchange[slot(scan::max_section)];
    __shared__ T totals[2][scan::max_section / ITEMS];
    const int t = threadIdx.x, threads = blockDim.x;
    const long long base = (long long)blockIdx.x * threads * ITEMS;
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
        const long long i = base + k * threads + t;
        exchange[slot(k * threads + t)] = i < n ? in[i] : op.identity();
    }
    __syncthreads();

    T item[ITEMS];
    for (int k = 0; k < ITEMS; ++k) item[k] = exchange[slot(t * ITEMS + k)];
    for (int k = 1; k < ITEMS; ++k) item[k] = op(item[k - 1], item[k]);

    int now = 0;
    totals[now][t] = item[ITEMS - 1];
    __syncthreads();
    for (int d = 1; d < threads; d *= 2, now ^= 1) {
        totals[now ^ 1][t] = t < d ? totals[now][t] : op(totals[now][t - d], totals[now][t]);
        __syncthreads();
    }
    const T before = t > 0 ? totals[now][t - 1] : op.identity();

    for (int k = 0; k < ITEMS; ++k) {
        if (kind == Kind::inclusive)
            exchange[slot(t * ITEMS + k)] = op(before, item[k]);
        else
            exchange[slot(t * ITEMS + k)] = k > 0 ? op(before, item[k - 1]) : before;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
        const long long i = base + k * threads + t;
        if (i < n) out[i] = exchange[slot(k * threads + t)];
    }
}

template <class T, class Op>
void scan_sections(const T* in, T* out, int n, int section, Kind kind, Op op) {
    if (n == 0) return;
    block_scan<<<ceil_div(n, section), section / ITEMS>>>(in, out, n, kind, op);
    check(cudaGetLastError());
}
