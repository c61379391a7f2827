// The trees over a padded array, as in "avoiding bank conflicts" of GPU Gems 3.
#include "sections.cuh"

#define LOG_NUM_BANKS 5
#define PLACE(n) ((n) + ((n) >> LOG_NUM_BANKS))

template <class T, class Op>
__global__ void brent_kung_padded(const T* in, T* out, int n, int shift, Op op) {
    __shared__ T temp[PLACE(scan::max_section)];
    const int thid = threadIdx.x, half = blockDim.x, section = 2 * half, base = blockIdx.x * section;
    for (int k = 0; k < 2; ++k) {
        const int e = thid + k * half;
        temp[PLACE(e)] = e >= shift && base + e < n ? in[base + e - shift] : op.identity();
    }
    int offset = 1;
    for (int d = half; d > 0; d >>= 1, offset *= 2) {
        __syncthreads();
        if (thid < d) {
            const int ai = PLACE(offset * (2 * thid + 1) - 1), bi = PLACE(offset * (2 * thid + 2) - 1);
            temp[bi] = op(temp[ai], temp[bi]);
        }
    }
    for (int d = 1; offset > 1; d = 2 * d + 1) {
        offset >>= 1;
        __syncthreads();
        if (thid < d - (d == 1 && offset == half ? 1 : 0) && offset * (2 * thid + 3) - 1 < section) {
            const int ai = PLACE(offset * (2 * thid + 2) - 1), bi = PLACE(offset * (2 * thid + 3) - 1);
            temp[bi] = op(temp[ai], temp[bi]);
        }
    }
    __syncthreads();
    for (int k = 0; k < 2; ++k) {
        const int e = thid + k * half;
        if (base + e < n) out[base + e] = temp[PLACE(e)];
    }
}

template <class T, class Op>
void scan_sections(const T* in, T* out, int n, int section, Kind kind, Op op) {
    if (n == 0) return;
    brent_kung_padded<<<ceil_div(n, section), section / 2>>>(in, out, n, kind == Kind::exclusive ? 1 : 0, op);
    check(cudaGetLastError());
}
