// Neighbouring lanes load neighbouring words of four characters, in a grid-stride loop with a tail: usual
// where a byte a lane is too little.
#include "histogram.cuh"

__device__ inline void tally(int c, unsigned* s) {
    c -= 'a';
    if (c >= 0 && c < 26) atomicAdd(&s[c / 4], 1u);
}

__global__ void words(const char* text, size_t length, unsigned* histo) {
    __shared__ unsigned s[bins];
    for (int b = threadIdx.x; b < bins; b += blockDim.x) s[b] = 0;
    __syncthreads();
    const size_t tid = blockIdx.x * (size_t)blockDim.x + threadIdx.x, stride = (size_t)gridDim.x * blockDim.x;
    const uchar4* quads = (const uchar4*)text;
    for (size_t i = tid; i < length / 4; i += stride) {
        const uchar4 q = quads[i];
        tally(q.x, s);
        tally(q.y, s);
        tally(q.z, s);
        tally(q.w, s);
    }
    const size_t rest = length / 4 * 4 + tid;
    if (rest < length) tally((unsigned char)text[rest], s);
    __syncthreads();
    for (int b = threadIdx.x; b < bins; b += blockDim.x)
        if (s[b]) atomicAdd(&histo[b], s[b]);
}

void count_letters(const char* text, std::size_t length, unsigned* histo, unsigned*) {
    check(cudaMemset(histo, 0, bins * sizeof(unsigned)));
    if (length == 0) return;
    words<<<(unsigned)ceil_div(length, 16384), 1024>>>(text, length, histo);
    check(cudaGetLastError());
}
