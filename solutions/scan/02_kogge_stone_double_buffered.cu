// 02 Kogge–Stone, double-buffered: a round reads one buffer and writes the other, and then the two swap
// roles. Mirrors PMPP-scan 11.2. Changed from 01: no thread overwrites what another still reads, so one
// barrier per round is enough where there were two. The price is twice the shared memory.
#include "sections.cuh"

template <class T, class Op>
__global__ void double_buffered(const T* in, T* out, int n, Kind kind, Op op) {
    // kata: begin
    __shared__ T buffers[2][scan::max_section];
    T *from = buffers[0], *to = buffers[1];  // pointers, so that swapping roles copies nothing
    const int section = blockDim.x, t = threadIdx.x;
    const int i = blockIdx.x * section + t;
    T sum;
    if (kind == Kind::inclusive) {
        sum = i < n ? in[i] : op.identity();
    } else {
        sum = t > 0 && i < n ? in[i - 1] : op.identity();  // shifted by one, as in 01
    }
    from[t] = sum;

    for (int stride = 1; stride < section; stride *= 2) {
        __syncthreads();  // `from` is complete, and no thread reads `to` any more
        if (t >= stride) sum = op(from[t - stride], sum);
        to[t] = sum;  // also where nothing was added: the next round reads all of it
        T* const written = to;
        to = from;
        from = written;
    }
    if (i < n) out[i] = sum;  // the thread's own sum, so it does not matter which buffer has it
    // kata: end
}

template <class T, class Op>
void scan_sections(const T* in, T* out, int n, int section, Kind kind, Op op) {
    // kata: begin
    if (n == 0) return;
    double_buffered<<<ceil_div(n, section), section>>>(in, out, n, kind, op);
    check(cudaGetLastError());
    // kata: end
}
