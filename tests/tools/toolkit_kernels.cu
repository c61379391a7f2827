// The kernels of tests/toolkit.cpp. A comment `mark: …` names a line.
#include "kata.hpp"
#include "toolkit_kernels.hpp"

namespace kernels {

__global__ void reduce_lanes_kernel(unsigned mask, const int* in, int* out, unsigned* bits) {
    const int t = threadIdx.x;
    if (!(mask >> t & 1)) return;
    const unsigned u = in[t];
    out[3 * t] = __reduce_add_sync(mask, in[t]);
    out[3 * t + 1] = __reduce_min_sync(mask, in[t]);
    out[3 * t + 2] = __reduce_max_sync(mask, in[t]);
    bits[6 * t] = __reduce_add_sync(mask, u);
    bits[6 * t + 1] = __reduce_min_sync(mask, u);
    bits[6 * t + 2] = __reduce_max_sync(mask, u);
    bits[6 * t + 3] = __reduce_and_sync(mask, u);
    bits[6 * t + 4] = __reduce_or_sync(mask, u);
    bits[6 * t + 5] = __reduce_xor_sync(mask, u);
}
void reduce_lanes(unsigned mask, const int* in, int* out, unsigned* bits) {
    reduce_lanes_kernel<<<1, 32>>>(mask, in, out, bits);
}

__global__ void ticks_kernel(long long* out, int rounds) {
    for (int i = 0; i < rounds; ++i) out[i] = clock64();
    while (clock64() - out[0] < 100'000) {
    }
}
void ticks(long long* out, int rounds) { ticks_kernel<<<1, 1>>>(out, rounds); }

__global__ void trap_kernel(bool goes_off) {
    if (goes_off && threadIdx.x == 3) __trap();  // mark: trap
}
void trap(bool goes_off) { trap_kernel<<<1, 32>>>(goes_off); }

__global__ void add_one_kernel(const int* in, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
float through_streams(const int* in, int* out, int n) {
    cudaStream_t first, second;
    check(cudaStreamCreate(&first));
    check(cudaStreamCreate(&second));
    cudaEvent_t start, stop;
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&stop));
    int* between;
    check(cudaMallocAsync(&between, n * sizeof(int), first));
    check(cudaEventRecord(start, first));
    add_one_kernel<<<n / 32 + 1, 32, 0, first>>>(in, between, n);
    check(cudaEventRecord(stop, first));
    check(cudaStreamWaitEvent(second, stop));
    add_one_kernel<<<n / 32 + 1, 32, 0, second>>>(between, out, n);
    check(cudaStreamSynchronize(second));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start, stop));
    check(cudaFreeAsync(between, second));
    check(cudaEventDestroy(start));
    check(cudaEventDestroy(stop));
    check(cudaStreamDestroy(first));
    check(cudaStreamDestroy(second));
    return milliseconds;
}

void launch_on_destroyed_stream(int* out) {
    cudaStream_t stream;
    check(cudaStreamCreate(&stream));
    check(cudaStreamDestroy(stream));
    add_one_kernel<<<1, 32, 0, stream>>>(out, out, 1);
}

__global__ void rows_kernel(int* rows, std::size_t pitch, int width) {
    auto* const row = reinterpret_cast<int*>(reinterpret_cast<char*>(rows) + blockIdx.x * pitch);
    for (int x = threadIdx.x; x < width; x += blockDim.x) row[x] += blockIdx.x;
}
void rows(const int* in, int* out, int width, int height) {
    int* with_pitch;
    std::size_t pitch;
    const std::size_t bytes = width * sizeof(int);
    check(cudaMallocPitch(&with_pitch, &pitch, bytes, height));
    check(cudaMemcpy2D(with_pitch, pitch, in, bytes, bytes, height, cudaMemcpyDeviceToDevice));
    rows_kernel<<<height, 32>>>(with_pitch, pitch, width);
    check(cudaMemcpy2D(out, bytes, with_pitch, pitch, bytes, height, cudaMemcpyDeviceToDevice));
    check(cudaFree(with_pitch));
}

cudaError_t occupancy(int* blocks, int threads, std::size_t dynamic_shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, rows_kernel, threads, dynamic_shared);
}
cudaError_t best_block(int* grid, int* block) {
    return cudaOccupancyMaxPotentialBlockSize(grid, block, rows_kernel);
}

}  // namespace kernels
