// Kernels whose traffic can be counted by hand. A comment `mark: …` names a line.
#include "kata.hpp"
#include "kernels.hpp"

#include <cstring>
#include <cuda_fp16.h>
#include <mma.h>
#include <type_traits>

namespace kernels {

template <class T>
__global__ void copy_kernel(const T* in, T* out, int stride) {
    const int i = threadIdx.x;
    out[i] = in[i * stride];
}
#define COPY(T)                                               \
    void copy(const T* in, T* out, int stride, int threads) { \
        copy_kernel<T><<<1, threads>>>(in, out, stride);      \
    }
COPY(float)
COPY(double)
COPY(float4)
COPY(unsigned char)
COPY(float3)

__global__ void sum_in_memory_kernel(const float* in, float* out, int n) {
    for (int i = 0; i < n; ++i) out[threadIdx.x] += in[i];
}
void sum_in_memory(const float* in, float* out, int n) { sum_in_memory_kernel<<<1, 32>>>(in, out, n); }

template <class V, class... T>
__device__ V made_of(T... component) {
    return {component...};
}
template <class V, class T, class... Rest>
__device__ void make_vector(Made how, const T* in, V& out, T first, T second, Rest... rest) {
    if (how == Made::braces) out = {first, second, rest...};
    if (how == Made::typed_braces) out = V{first, second, rest...};
    if (how == Made::call) out = made_of<V>(first, second, rest...);
    if (how == Made::either)
        out = first < second ? V{first, second, rest...} : made_of<V>(second, first, rest...);
    if (how == Made::local) {
        const V made{first, second, rest...};
        out = made;
    }
    if (how == Made::members) {
        out.x = *in;
        out.y = *in;
    }
    if (how == Made::elements) {
        T* const component = &out.x;
        int i = 0;
        component[i++] = first, component[i++] = second, (..., (component[i++] = rest));
    }
}
template <class T, class V, class... Component>
__global__ void make_vectors_kernel(Made how, const T* in, V* out, Component... component) {
    make_vector(how, &in[threadIdx.x], out[threadIdx.x], component...);
}
void make_vectors(Made how, const unsigned char* in, uchar4* out) {
    using T = unsigned char;
    make_vectors_kernel<<<1, 32>>>(how, in, out, T{0}, T{1}, T{2}, T{3});
}
void make_vectors(Made how, const float* in, float2* out) {
    make_vectors_kernel<<<1, 32>>>(how, in, out, 0.0f, 1.0f);
}
void make_vectors(Made how, const float* in, float3* out) {
    make_vectors_kernel<<<1, 32>>>(how, in, out, 0.0f, 1.0f, 2.0f);
}
void make_vectors(Made how, const float* in, float4* out) {
    make_vectors_kernel<<<1, 32>>>(how, in, out, 0.0f, 1.0f, 2.0f, 3.0f);
}
void make_vectors(Made how, const double* in, double4* out) {
    make_vectors_kernel<<<1, 32>>>(how, in, out, 0.0, 1.0, 2.0, 3.0);
}

template <class T>
__global__ void copy_in_shared_kernel(T* out, int stride) {
    __shared__ T tile[1024];
    const int i = threadIdx.x;
    tile[i * stride] = T{};
    __syncthreads();
    out[i] = tile[i * stride];
}
#define COPY_IN_SHARED(T)                                      \
    void copy_in_shared(T* out, int stride, int threads) {     \
        copy_in_shared_kernel<T><<<1, threads>>>(out, stride); \
    }
COPY_IN_SHARED(float)
COPY_IN_SHARED(double)
COPY_IN_SHARED(float4)
COPY_IN_SHARED(unsigned char)

template <class T>
__global__ void load_from_shared_kernel(const int* index, T* out) {
    __shared__ T tile[64];
    const int t = threadIdx.x, i = index[t];
    tile[t] = T{};
    tile[t + 32] = T{};
    __syncwarp();
    if (i >= 0) out[t] = tile[i];
}
void load_from_shared(const int* index, float* out) { load_from_shared_kernel<float><<<1, 32>>>(index, out); }
void load_from_shared(const int* index, double* out) {
    load_from_shared_kernel<double><<<1, 32>>>(index, out);
}
void load_from_shared(const int* index, float4* out) {
    load_from_shared_kernel<float4><<<1, 32>>>(index, out);
}

__global__ void transpose_naive(const float* in, float* out, int n) {
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    out[x * n + y] = in[y * n + x];
}
template <int padding>
__global__ void transpose_tiled(const float* in, float* out, int n) {
    __shared__ float tile[32][32 + padding];
    const int tx = threadIdx.x, ty = threadIdx.y;
    tile[ty][tx] = in[(blockIdx.y * 32 + ty) * n + blockIdx.x * 32 + tx];
    __syncthreads();
    out[(blockIdx.x * 32 + ty) * n + blockIdx.y * 32 + tx] = tile[tx][ty];
}
void transpose(Transpose how, const float* in, float* out, int n) {
    const auto kernel = how == Transpose::naive   ? transpose_naive
                        : how == Transpose::tiled ? transpose_tiled<0>
                                                  : transpose_tiled<1>;
    const dim3 grid(n / 32, n / 32), block(32, 32);
    kernel<<<grid, block>>>(in, out, n);
}

__global__ void broadcast_kernel(const float* in, float* out) {
    __shared__ float word;
    if (threadIdx.x == 0) word = 1.0f;
    __syncthreads();
    out[threadIdx.x] = in[0] + word;
}
void broadcast(const float* in, float* out, int threads) { broadcast_kernel<<<1, threads>>>(in, out); }

__global__ void read_only_kernel(const float* in, float* out) { out[threadIdx.x] = __ldg(in + threadIdx.x); }
void read_only(const float* in, float* out, int threads) { read_only_kernel<<<1, threads>>>(in, out); }

__global__ void reversed_kernel(const float* in, float* out) {
    out[blockDim.x - 1 - threadIdx.x] = in[blockDim.x - 1 - threadIdx.x];
}
void reversed(const float* in, float* out, int threads) { reversed_kernel<<<1, threads>>>(in, out); }

__constant__ float lookup[64];
__global__ void constant_broadcast_kernel(float* out) { out[threadIdx.x] = lookup[3]; }
void constant_broadcast(float* out, int threads) { constant_broadcast_kernel<<<1, threads>>>(out); }
__global__ void constant_by_lane_kernel(float* out) { out[threadIdx.x] = lookup[threadIdx.x]; }
void constant_by_lane(float* out, int threads) { constant_by_lane_kernel<<<1, threads>>>(out); }

__global__ void atomics_kernel(int* sums, int different) { atomicAdd(&sums[threadIdx.x % different], 1); }
void atomics(int* sums, int different, int threads) { atomics_kernel<<<1, threads>>>(sums, different); }
__global__ void atomics_in_shared_kernel(int* sums, int different) {
    __shared__ int sum[64];
    if (threadIdx.x < 64) sum[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&sum[threadIdx.x % different], 1);
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < different) sums[threadIdx.x] = sum[threadIdx.x];
}
void atomics_in_shared(int* sums, int different, int threads) {
    atomics_in_shared_kernel<<<1, threads>>>(sums, different);
}

__global__ void copies_kernel(Copy how, const Large* in, Large* out, unsigned bytes, int lanes) {
    const int t = threadIdx.x;
    if (t >= lanes) return;
    if (how == Copy::library) memcpy(&out[t], &in[t], bytes);  // mark: library copies
    if (how == Copy::moved) memmove(&out[t], &in[t], bytes);
    if (how == Copy::set) memset(&out[t], 0, bytes);
    if (how == Copy::structure) out[t] = in[t];
    if (how == Copy::small) {
        float4 v;
        std::memcpy(&v, &in[t], sizeof v);
        std::memcpy(&out[t], &v, sizeof v);
    }
}
void copies(Copy how, const Large* in, Large* out, unsigned bytes, int lanes) {
    copies_kernel<<<1, 32>>>(how, in, out, bytes, lanes);
}
__global__ void overlapping_copies_kernel(char* out, int lanes) {
    if (static_cast<int>(threadIdx.x) < lanes) memset(out + 44 * threadIdx.x, 0, 48);  // mark: overlapping
}
void overlapping_copies(char* out, int lanes) { overlapping_copies_kernel<<<1, 32>>>(out, lanes); }

namespace wmma = nvcuda::wmma;

template <class Use, class T, class Layout>
using Factor = wmma::fragment<Use, 16, 16, std::is_same_v<T, float> ? 8 : 16,
                              std::conditional_t<std::is_same_v<T, float>, wmma::precision::tf32, T>, Layout>;

template <class Use, class T, class Layout>
__global__ void load_factor_kernel(const T* in, int pitch, bool by_shared, float* out) {
    __shared__ alignas(32) T tile[16 * 48];
    Factor<Use, T, Layout> f;
    if (by_shared) {
        for (int i = threadIdx.x; i < 16 * pitch; i += 32) tile[i] = in[0];
        __syncthreads();
        wmma::load_matrix_sync(f, tile, pitch);
    } else {
        wmma::load_matrix_sync(f, in, pitch);
    }
    float sum = 0;
    for (int i = 0; i < f.num_elements; ++i) sum += static_cast<float>(f.x[i]);
    out[threadIdx.x] = sum;
}
template <class T>
void load_factor(bool of_a, bool by_rows, const T* in, int pitch, bool by_shared, float* out) {
    using wmma::col_major, wmma::matrix_a, wmma::matrix_b, wmma::row_major;
    const auto kernel = of_a      ? by_rows ? load_factor_kernel<matrix_a, T, row_major>
                                            : load_factor_kernel<matrix_a, T, col_major>
                             : by_rows ? load_factor_kernel<matrix_b, T, row_major>
                                  : load_factor_kernel<matrix_b, T, col_major>;
    kernel<<<1, 32>>>(in, pitch, by_shared, out);
}
void load_floats(bool of_a, bool by_rows, const float* in, int pitch, bool by_shared, float* out) {
    load_factor(of_a, by_rows, in, pitch, by_shared, out);
}
void load_halves(bool of_a, bool by_rows, const unsigned short* in, int pitch, bool by_shared, float* out) {
    load_factor(of_a, by_rows, reinterpret_cast<const half*>(in), pitch, by_shared, out);
}

__global__ void store_sums_kernel(bool by_rows, float* out, int pitch, bool to_shared) {
    __shared__ alignas(32) float tile[16 * 48];
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 1.0f);
    wmma::store_matrix_sync(to_shared ? tile : out, sum, pitch,
                            by_rows ? wmma::mem_row_major : wmma::mem_col_major);
}
void store_sums(bool by_rows, float* out, int pitch, bool to_shared) {
    store_sums_kernel<<<1, 32>>>(by_rows, out, pitch, to_shared);
}

template <int products>
__global__ void multiply_kernel(float* out, int rounds) {
    Factor<wmma::matrix_a, float, wmma::row_major> a;
    Factor<wmma::matrix_b, float, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(a, 1.0f);
    wmma::fill_fragment(b, 1.0f);
    wmma::fill_fragment(sum, 0.0f);
    for (int i = 0; i < rounds; ++i) {
        if constexpr (products > 0) wmma::mma_sync(sum, a, b, sum);
        if constexpr (products > 1) wmma::mma_sync(sum, a, b, sum);
    }
    wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);
}
void multiply(int products, float* out, int rounds) {
    const auto kernel = products == 0   ? multiply_kernel<0>
                        : products == 1 ? multiply_kernel<1>
                                        : multiply_kernel<2>;
    kernel<<<1, 32>>>(out, rounds);
}

}  // namespace kernels
