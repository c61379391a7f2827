// Shared, constant and device memory, and copies.
#include "kata.hpp"
#include "kernels.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#define CHECK(call) \
    ((call) == cudaSuccess ? (void)0 : (void)printf("%s\n", cudaGetErrorString(cudaGetLastError())))

namespace kernels {

__global__ void reverse_static_kernel(const int* in, int* out) {
    __shared__ int tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
}
void reverse_static(const int* in, int* out) { reverse_static_kernel<<<1, 64>>>(in, out); }

__global__ void reverse_static_volume_kernel(const int* in, int* out) {
    __shared__ int volume[4][4][4], plane[4][4];
    const int i = (threadIdx.z * 4 + threadIdx.y) * 4 + threadIdx.x;
    volume[threadIdx.z][threadIdx.y][threadIdx.x] = in[i];
    if (threadIdx.z == 0) plane[threadIdx.y][threadIdx.x] = 0;
    __syncthreads();
    out[i] = volume[3 - threadIdx.z][3 - threadIdx.y][3 - threadIdx.x] + plane[threadIdx.x][threadIdx.y];
}
void reverse_static_volume(const int* in, int* out) {
    reverse_static_volume_kernel<<<1, dim3(4, 4, 4)>>>(in, out);
}

__shared__ int tile_of_all[64];
static __shared__ int offset_of_all;
__device__ void store_in_namespace(int value) { tile_of_all[threadIdx.x] = value; }

__global__ void reverse_in_namespace_kernel(const int* in, int* out) {
    if (threadIdx.x == 0) offset_of_all = 63;
    store_in_namespace(in[threadIdx.x]);
    __syncthreads();
    out[threadIdx.x] = tile_of_all[offset_of_all - threadIdx.x];
}
void reverse_in_namespace(const int* in, int* out) { reverse_in_namespace_kernel<<<1, 64>>>(in, out); }

__global__ void reverse_dynamic_kernel(const int* in, int* out) {
    extern __shared__ int buffer[];
    buffer[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x];
}
void reverse_dynamic(const int* in, int* out, int n) {
    reverse_dynamic_kernel<<<1, n, n * sizeof(int)>>>(in, out);
}

__global__ void reverse_dynamic_volatile_kernel(const int* in, int* out) {
    extern volatile __shared__ int impatient[];
    impatient[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = impatient[blockDim.x - 1 - threadIdx.x];
}
void reverse_dynamic_volatile(const int* in, int* out, int n) {
    reverse_dynamic_volatile_kernel<<<1, n, n * sizeof(int)>>>(in, out);
}

extern __shared__ __align__(sizeof(int4)) int pool[];
__device__ int* pool_end() { return pool + blockDim.x; }

__global__ void reverse_dynamic_in_namespace_kernel(const int* in, int* out) {
    pool[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = *(pool_end() - 1 - threadIdx.x);
}
void reverse_dynamic_in_namespace(const int* in, int* out, int n) {
    reverse_dynamic_in_namespace_kernel<<<1, n, n * sizeof(int)>>>(in, out);
}

__global__ void reverse_dynamic_rows_kernel(const int* in, int* out) {
    extern __shared__ int rows[][4];
    const unsigned i = threadIdx.x, mirrored = blockDim.x - 1 - i;
    rows[i / 4][i % 4] = in[i];
    __syncthreads();
    out[i] = rows[mirrored / 4][mirrored % 4];
}
void reverse_dynamic_rows(const int* in, int* out, int n) {
    reverse_dynamic_rows_kernel<<<1, n, n * sizeof(int)>>>(in, out);
}

template <class T>
__global__ void reverse_dynamic_template_kernel(const T* in, T* out) {
    extern __shared__ T elements[];
    elements[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = elements[blockDim.x - 1 - threadIdx.x];
}
void reverse_dynamic_template(const double* in, double* out, int n) {
    reverse_dynamic_template_kernel<double><<<1, n, n * sizeof(double)>>>(in, out);
}

// Through n elements of dynamic shared memory, in one block of 256 threads.
__global__ void reverse_large_kernel(const int* in, int* out, int n) {
    extern __shared__ int large[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) large[i] = in[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = large[n - 1 - i];
}
void reverse_large(const int* in, int* out, int n, int asked) {
    if (asked >= 0)
        check(cudaFuncSetAttribute(reverse_large_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, asked));
    reverse_large_kernel<<<1, 256, n * sizeof(int)>>>(in, out, n);
}

template <class T>
__global__ void beside_static_kernel(T* out, int n) {
    extern __shared__ T beside[];
    __shared__ T fixed[2 * 1024];
    for (int i = threadIdx.x; i < n; i += blockDim.x) beside[i] = i;
    for (int i = threadIdx.x; i < 2 * 1024; i += blockDim.x) fixed[i] = i;
    __syncthreads();
    out[threadIdx.x] = beside[n - 1 - threadIdx.x] + fixed[threadIdx.x];
}
void beside_static(int* out, int n, int asked, bool named) {
    check(
        cudaFuncSetAttribute(beside_static_kernel<int>, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
    if (asked >= 0)
        check(cudaFuncSetAttribute(reinterpret_cast<const void*>(&beside_static_kernel<int>),
                                   cudaFuncAttributeMaxDynamicSharedMemorySize, asked));
    if (named)
        beside_static_kernel<int><<<1, 256, n * sizeof(int)>>>(out, n);
    else
        beside_static_kernel<<<1, 256, n * sizeof(int)>>>(out, n);
}

template <class T>
__device__ T pick(const T* from, int at) {
    return from[at];
}

__global__ void reverse_cut_by_hand_kernel(const int* in, const double* weights, double* out) {
    extern __shared__ __align__(16) char raw[];
    const int n = blockDim.x, i = threadIdx.x;
    double* const weight = reinterpret_cast<double*>(raw);
    int* const value = (int*)(raw + n * sizeof(double));
    weight[i] = weights[i];
    value[i] = in[i];
    __syncthreads();
    out[i] = pick(weight, n - 1 - i) * pick(value, n - 1 - i);
}
void reverse_cut_by_hand(const int* in, const double* weights, double* out, int n) {
    reverse_cut_by_hand_kernel<<<1, n, n*(sizeof(double) + sizeof(int))>>>(in, weights, out);
}

struct __align__(16) Pair {
    float a, b;
};
__global__ void aligned_shared_kernel(unsigned* misfit) {
    __shared__ alignas(128) int before[3];
    __shared__ __align__(16) float behind[5];
    __shared__ Pair pairs[2];
    alignas(1024) extern __shared__ float requested[];
    *misfit = reinterpret_cast<std::uintptr_t>(before) % 128 + reinterpret_cast<std::uintptr_t>(behind) % 16 +
              reinterpret_cast<std::uintptr_t>(pairs) % 16 + sizeof(Pair) % 16 +
              reinterpret_cast<std::uintptr_t>(requested) % 1024;
}
void aligned_shared(unsigned* misfit) { aligned_shared_kernel<<<1, 1, sizeof(float)>>>(misfit); }

__constant__ float table[8];
static __constant__ float factor = 2.0f;
__global__ void constants_kernel(float* out) { out[threadIdx.x] = factor * table[threadIdx.x]; }
void constants(const float* values, std::size_t count, std::size_t offset, float* out) {
    CHECK(cudaMemcpyToSymbol(table, values, count * sizeof(float), offset * sizeof(float)));
    constants_kernel<<<1, 8>>>(out);
}
void constants_read_back(float* values, std::size_t count) {
    CHECK(cudaMemcpyFromSymbol(values, table, count * sizeof(float)));
}

void constants_by_address(const float* values, std::size_t count, float* back) {
    void* address = nullptr;
    std::size_t bytes = 0;
    CHECK(cudaGetSymbolAddress(&address, table));
    CHECK(cudaGetSymbolSize(&bytes, table));
    CHECK(cudaMemset(address, 0, bytes));
    CHECK(cudaMemcpy(address, values, count * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyFromSymbol(back, table, bytes));
}

__device__ char letter[1];
__device__ char letters[3];
void addresses_of_arrays(void** letter_address, void** letters_address) {
    CHECK(cudaGetSymbolAddress(letter_address, letter));
    CHECK(cudaGetSymbolAddress(letters_address, letters));
}

__device__ int counter;
__global__ void count_on_the_device_kernel() { atomicAdd(&counter, 1); }
__global__ void fetch_counter_kernel(int* out) { *out = counter; }
void count_on_the_device(int* out, int threads) {
    const int zero = 0;
    cudaMemcpyToSymbol(counter, &zero, sizeof zero);
    count_on_the_device_kernel<<<1, threads>>>();
    fetch_counter_kernel<<<1, 1>>>(out);
}

__device__ unsigned blocks_done;
__global__ void number_last_block_kernel(int* out) {
    if (atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1) *out = gridDim.x;
}
void number_last_block(int* out, int blocks) { number_last_block_kernel<<<blocks, 1>>>(out); }
int launches_remembered(int* out, int blocks) {
    static std::vector<int> launched;
    number_last_block(out, blocks);
    launched.push_back(blocks);
    return static_cast<int>(launched.size());
}

void check_errors(bool fails) {
    check(cudaSuccess);
    check(cudaGetLastError());
    if (fails) check(cudaErrorInvalidValue);  // mark: check
}

void copy_within(void* to, const void* from, std::size_t bytes) {
    cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}

__constant__ float unasked[8];  // its address is never requested
void to_symbol_as_to_an_address(const float* from) {
    cudaMemcpy(unasked, from, 8 * sizeof(float), cudaMemcpyHostToDevice);
}
void to_symbol(const float* from, Direction kind) {
    cudaMemcpyToSymbol(table, from, 8 * sizeof(float), 0, static_cast<cudaMemcpyKind>(kind));
}
void from_symbol(float* to, Direction kind) {
    cudaMemcpyFromSymbol(to, table, 8 * sizeof(float), 0, static_cast<cudaMemcpyKind>(kind));
}

void copy_to_host(void* to, const void* from, std::size_t bytes) {
    cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
}
void free_it(void* pointer) { cudaFree(pointer); }
void free_twice() {
    void* pointer = nullptr;
    cudaMalloc(&pointer, 4);
    cudaFree(pointer);
    cudaFree(pointer);
}

template <int bytes>
__global__ void static_shared_kernel(int* out) {
    __shared__ int all[bytes / sizeof(int)];
    for (unsigned i = threadIdx.x; i < bytes / sizeof(int); i += blockDim.x) all[i] = i;
    __syncthreads();
    out[threadIdx.x] = all[bytes / sizeof(int) - 1 - threadIdx.x];
}
void shared_over_limit(int* out) { static_shared_kernel<40 * 1024><<<1, 256, 8 * 1024 + 4>>>(out); }
void static_shared_at_limit(int* out) { static_shared_kernel<48 * 1024><<<1, 256>>>(out); }

__global__ void read_through_kernel(const int* pointer, int* out) {
    out[threadIdx.x] = pointer[threadIdx.x];  // mark: read through
}
void read_through(const int* pointer, int* out) { read_through_kernel<<<1, 4>>>(pointer, out); }

void unasked_dynamic_shared(int* out) { reverse_dynamic_kernel<<<1, 8>>>(out, out); }

__global__ void misaligned_kernel(const float* in, float* out, int offset) {
    const float4 v = *reinterpret_cast<const float4*>(in + offset);  // mark: misaligned
    *out = v.x;
}
void misaligned(const float* in, float* out, int offset) { misaligned_kernel<<<1, 1>>>(in, out, offset); }

__device__ int depth_of(int* out, int depth) {
    if (depth == 0) return 0;
    *out = depth;
    return depth_of(out, depth - 1) + *out;
}
__global__ void recurse_kernel(int* out, int depth) { *out = depth_of(out, depth); }
void recurse(int* out, int depth) { recurse_kernel<<<1, 1>>>(out, depth); }

__global__ void large_frame_kernel(int* out, int n) {
    volatile int local[100'000];
    for (int i = 0; i < n; ++i) local[i] = i;
    *out = local[n - 1];
}
void large_frame(int* out, int n) { large_frame_kernel<<<1, 2>>>(out, n); }

}  // namespace kernels
