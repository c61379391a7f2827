// Launches with and without effect, and arrays that lack something. A test requires that the name of this
// file does not contain "launch".
#include "kata.hpp"
#include "kernels.hpp"
#include "operators.hpp"

#include <cassert>

namespace kernels {

__global__ void doubled_kernel(const int* in, int* out) { out[threadIdx.x] = 2 * in[threadIdx.x]; }
__global__ void cleared_kernel(int* out) { out[threadIdx.x] = 0; }
__global__ void read_kernel(const int* in) { assert(in[threadIdx.x] != 0); }
void launch_twice(Superfluous how, const int* in, int* out) {
    if (how == Superfluous::clears_again || how == Superfluous::all_once_more) cleared_kernel<<<1, 64>>>(out);
    if (how == Superfluous::clears_again) cleared_kernel<<<1, 64>>>(out);
    doubled_kernel<<<1, 64>>>(in, out);
    if (how == Superfluous::once_more) doubled_kernel<<<1, 64>>>(in, out);  // mark: once more
    if (how == Superfluous::only_reads) read_kernel<<<1, 64>>>(in);
    if (how != Superfluous::all_once_more) return;
    cleared_kernel<<<1, 64>>>(out);
    doubled_kernel<<<1, 64>>>(in, out);  // mark: all once more
}

__global__ void reversed_in_local_kernel(const float* in, float* out) {
    float values[64] = {};  // without __shared__
    values[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = values[63 - threadIdx.x];
}
__global__ void reversed_in_shared_kernel(const float* in, float* out) {
    __shared__ float values[64];
    values[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = values[63 - threadIdx.x];
}
void reversed_in_array(bool shared, const float* in, float* out) {
    if (shared)
        reversed_in_shared_kernel<<<1, 64>>>(in, out);
    else
        reversed_in_local_kernel<<<1, 64>>>(in, out);
}

__global__ void reversed_in_two_shared_kernel(const float* in, float* out) {
    __shared__ float mine[64];
    __shared__ float ours[64];
    float both[2];  // rightly private: each thread reads only what it wrote itself
    const int t = threadIdx.x;
    for (int i = t; i < 64; i += 64) mine[i] = ours[i] = in[i];
    __syncthreads();
    for (int i = 0; i < 2; ++i) both[i] = i == 0 ? mine[63 - t] : ours[63 - t];
    out[t] = both[0] + both[1];
}
__global__ void reversed_in_one_shared_kernel(const float* in, float* out) {
    float mine[64];
    __shared__ float ours[64];
    const int t = threadIdx.x;
    mine[t] = ours[t] = in[t];
    __syncthreads();
    out[t] = mine[63 - t] + ours[63 - t];
}
void reversed_in_both(Lacks what, const float* in, float* out) {
    if (what == Lacks::nothing)
        reversed_in_two_shared_kernel<<<1, 64>>>(in, out);
    else
        reversed_in_one_shared_kernel<<<1, 64>>>(in, out);
}

__constant__ float tail_weights[4];
__global__ void weighed_kernel(const float* in, float* out) {
    float sum = 0;
    for (int i = 0; i < 4; ++i) sum += tail_weights[i] * in[(threadIdx.x + i) % 64];  // mark: weighed
    out[threadIdx.x] = sum;
}
void weighed(int copied, const float* in, float* out) {
    // zeros count as set, too
    constexpr float none[4] = {};
    cudaMemcpyToSymbol(tail_weights, none, copied * sizeof(float));
    weighed_kernel<<<1, 64>>>(in, out);
}

__global__ void combined_kernel(int* sum) {
    kata::atomic_combine(sum, 1, kata::Sum<int>{});  // mark: combined
}
void combined(int* sum) { combined_kernel<<<1, 64>>>(sum); }

}  // namespace kernels
