// Other device code.
#include "kata.hpp"
#include "kernels.hpp"
#include "operators.hpp"

#include <cassert>
#include <type_traits>

#define AT(row, column, width) ((row) * (width) + (column))

namespace kernels {

__global__ void arithmetic_kernel(const float* in, float* floats, int* ints, unsigned* words) {
    const float x = in[0];  // 2.25
    int n = 0;
    floats[n++] = rsqrtf(x);
    floats[n++] = __fdividef(9.0f, x);
    floats[n++] = __saturatef(x);
    floats[n++] = __saturatef(-x);
    floats[n++] = __fmaf_rn(x, x, 1.0f);
    floats[n++] = __fsqrt_rn(x);
    floats[n++] = __frcp_rn(x);
    floats[n++] = __int_as_float(__float_as_int(x));
    floats[n++] = fmaxf(x, 3.0f);
    floats[n++] = fabsf(-x);
    floats[n++] = max(x, 2.0f);
    floats[n++] = static_cast<float>(min(static_cast<double>(x), 1.0f));
    floats[n++] = fminf(x, __int_as_float(0x7fc00000));  // NaN loses
    n = 0;
    ints[n++] = __float2int_rn(2.5f);
    ints[n++] = __float2int_rn(3.5f);
    ints[n++] = __float2int_rz(-2.75f);
    ints[n++] = __popc(0xf0f0u);
    ints[n++] = __popcll(~0ull);
    ints[n++] = __ffs(8);
    ints[n++] = __ffs(0);
    ints[n++] = __clz(1);
    ints[n++] = __clz(0);
    ints[n++] = __clzll(1);
    ints[n++] = __mulhi(1 << 30, 1 << 30);
    ints[n++] = min(-3, 2);
    ints[n++] = max(static_cast<long long>(-3), 2ll) == 2;
    ints[n++] = abs(-7);
    n = 0;
    words[n++] = __brev(1u);
    words[n++] = __umulhi(1u << 31, 6u);
    words[n++] = __float_as_uint(1.0f);
    words[n++] = max(threadIdx.x, 5);
    words[n++] = min(-1, 7u);
    static_assert(std::is_same_v<decltype(min(1, 2u)), unsigned>);
    static_assert(std::is_same_v<decltype(min(1l, 2ul)), unsigned long>);
    static_assert(std::is_same_v<decltype(max(1ll, 2ull)), unsigned long long>);
    static_assert(std::is_same_v<decltype(max(1.0f, 2.0)), double>);
}
void arithmetic(const float* in, float* floats, int* ints, unsigned* words) {
    arithmetic_kernel<<<1, 1>>>(in, floats, ints, words);
}

__global__ void read_only_cache_kernel(const float* __restrict__ in, float* __restrict__ out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = 2.0f * __ldg(&in[i]);
}
void read_only_cache(const float* in, float* out, int n) {
    read_only_cache_kernel<<<ceil_div(n, 32), 32>>>(in, out, n);
}

__global__ void vector_copy_kernel(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4) return;
    const float4 v = reinterpret_cast<const float4*>(in)[i];
    reinterpret_cast<float4*>(out)[i] = make_float4(v.w, v.z, v.y, v.x);
}
void vector_copy(const float* in, float* out, int n) {
    vector_copy_kernel<<<ceil_div(n / 4, 32), 32>>>(in, out, n);
}

__global__ void grid_stride_kernel(const int* in, int* out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        out[i] = in[i] + 1;
}
void grid_stride(const int* in, int* out, int n, int blocks, int threads) {
    grid_stride_kernel<<<blocks, threads>>>(in, out, n);
}

typedef unsigned char uchar;
struct Window {
    int first, count;
    __host__ __device__ bool contains(int i) const { return i >= first && i - first < count; }
};
__device__ __forceinline__ int fold(const int* in, int i, uint width) {
    int sum = 0;
#pragma unroll 4
    for (uint k = 0; k < width; ++k) sum += in[AT(i, k, width)];
    return sum;
}
template <int width, class Weight>
__global__ void __launch_bounds__(128, 2)
    odds_and_ends_kernel(const int* in, int* out, int n, Window window, Weight weight) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || !window.contains(i)) return;
    volatile int keep = fold(in, i, width);
    const uchar low = static_cast<uchar>(keep);
    out[i] = weight(keep, low);
}
struct Difference {
    __device__ int operator()(int a, int b) const { return a - b; }
};
void odds_and_ends(const int* in, int* out, int n) {
    odds_and_ends_kernel<3, Difference>
        <<<ceil_div(n, 128), 128>>>(in, out, n, Window{1, n - 2}, Difference{});
}

template <int scale>
__global__ void chevrons_kernel(const int* in, int* out, int n) {
    extern __shared__ int staged[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    staged[threadIdx.x] = in[i];
    out[i] = scale * staged[threadIdx.x];
}
void chevrons(const int* in, int* out, int n) {
    constexpr int threads = 1 << 5;
    const dim3 grid((n + threads - 1) / threads), block(threads);
    chevrons_kernel<3><<<grid, block, threads * sizeof(int)>>>(in, out, n / 2);
    chevrons_kernel<(3 > 2) ? 3 : 2><<<grid,  // a comment with >>> in it
                                       block, threads * sizeof(int), nullptr>>>(in, out, n);
}

__global__ void speak_kernel() {
    if (threadIdx.x % 2 == 1)
        printf("thread %d says %.2f\n", static_cast<int>(threadIdx.x), 0.25 * threadIdx.x);
}
void speak(int threads) { speak_kernel<<<1, threads>>>(); }

__global__ void open_kernel() {
    __syncthreads();
    kata::open();
}
void open_in_kernel() { open_kernel<<<2, 64>>>(); }
void open_on_host() { kata::open(); }

// Assertions and divisions by zero.

__global__ void assertion_kernel(int n) {
    assert(static_cast<int>(threadIdx.x) < n);  // mark: assertion
}
void assertion(int n) { assertion_kernel<<<2, 8>>>(n); }

__global__ void divide_kernel(int by, int* out) {
    out[threadIdx.x] = 100 / (static_cast<int>(threadIdx.x) - by);  // mark: divide
}
void divide(int threads, int by, int* out) { divide_kernel<<<1, threads>>>(by, out); }

}  // namespace kernels
