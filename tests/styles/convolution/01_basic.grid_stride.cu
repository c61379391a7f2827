// One grid-stride loop over all outputs, in blocks of one dimension: usual in deep-learning frameworks (CUDA_KERNEL_LOOP).
#include "convolution.cuh"

#define CUDA_KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)

const int CUDA_NUM_THREADS = 512;

__global__ void conv_forward(const int count, const float* data, const float* weight, float* top, const int width,
                             const int height, const int pad) {
    CUDA_KERNEL_LOOP(index, count) {
        const int w_out = index % width;
        const int h_out = index / width;
        const int kernel = 2 * pad + 1;
        const int h_start = max(0, h_out - pad), h_end = min(height, h_out + pad + 1);
        const int w_start = max(0, w_out - pad), w_end = min(width, w_out + pad + 1);
        float value = 0;
        for (int h = h_start; h < h_end; ++h) {
            for (int w = w_start; w < w_end; ++w) {
                value += data[h * width + w] * weight[(h - h_out + pad) * kernel + (w - w_out + pad)];
            }
        }
        top[index] = value;
    }
}

void convolve(const float* in, const float* filter, float* out, int width, int height, int radius) {
    const int count = width * height;
    if (count == 0) return;
    const int blocks = min((count + CUDA_NUM_THREADS - 1) / CUDA_NUM_THREADS, 4096);
    conv_forward<<<blocks, CUDA_NUM_THREADS>>>(count, in, filter, out, width, height, radius);
    check(cudaGetLastError());
}
