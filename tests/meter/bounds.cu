// Accesses out of bounds, and host code that accesses device memory.
#include "kata.hpp"
#include "kernels.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

namespace kernels {

__constant__ float table[64];

__global__ void read_two_kernel(const float* in, float* out, long first /* (in floats) */, long second) {
    out[threadIdx.x] = in[threadIdx.x == 0 ? first : second];  // mark: read two
}
void read_two(const float* in, float* out, long first, long second) {
    read_two_kernel<<<1, 2>>>(in, out, first, second);
}
__global__ void read_at_kernel(const float* in, float* out, long offset) {
    out[threadIdx.x] = in[threadIdx.x + offset];  // mark: read at
}
void read_at(const float* in, float* out, long offset) { read_at_kernel<<<1, 32>>>(in, out, offset); }
__global__ void write_at_kernel(float* out, long offset) {
    out[threadIdx.x + offset] = 1.0f;  // mark: write at
}
void write_at(float* out, long offset) { write_at_kernel<<<1, 32>>>(out, offset); }
__global__ void read_vector_at_kernel(const float4* in, float4* out, long offset) {
    out[threadIdx.x] = in[threadIdx.x + offset];
}
void read_vector_at(const float4* in, float4* out, long offset) {
    read_vector_at_kernel<<<1, 1>>>(in, out, offset);
}
static float host_weights[2] = {1, 2};
static const float host_constants[2] = {1, 2};
namespace device {
__device__ float weights[2] = {1, 2};
static __device__ const float constants[2] = {1, 2};
}  // namespace device
__device__ const float* own_table(int which) {
    static const float first[2] = {1, 2};
    constexpr static float second[2] = {1, 2};
    return which == 0 ? first : second;
}
__global__ void table_kernel(const float* weights, float* out) {
    out[threadIdx.x] = weights[threadIdx.x % 2];  // mark: table
}
template <class T>
__global__ void own_table_kernel(int which, T* out) {
    static const T mine[2] = {1, 2};
    constexpr T elements[2] = {1, 2};
    const char* text = which == 2 ? "\1\2" : "\2\1";
    const T* const table = which == 3 ? mine : which == 2 ? elements : own_table(which);
    T sum = table[threadIdx.x % 2] + text[threadIdx.x % 2];
    for (const T x : {T(1), T(2)}) sum += x;
    out[threadIdx.x] = sum;
}
__global__ void write_table_kernel(float* weights) {
    device::weights[threadIdx.x] = 3;
    weights[threadIdx.x] = 3;  // mark: write table
}
void read_table(Table table, float* out) {
    static float within[2] = {1, 2};
    const std::vector<float> heap{1, 2};
    void* symbol = nullptr;
    switch (table) {
        case Table::host:
            return table_kernel<<<1, 32>>>(host_weights, out);
        case Table::host_constant:
            return table_kernel<<<1, 32>>>(host_constants, out);
        case Table::host_function:
            return table_kernel<<<1, 32>>>(within, out);
        case Table::host_heap:
            return table_kernel<<<1, 32>>>(heap.data(), out);
        case Table::host_written:
            return write_table_kernel<<<1, 2>>>(host_weights);
        case Table::device:
            cudaGetSymbolAddress(&symbol, device::weights);
            break;
        case Table::device_constant:
            cudaGetSymbolAddress(&symbol, device::constants);
            break;
        case Table::constant:
            cudaGetSymbolAddress(&symbol, kernels::table);
            break;
        case Table::own:
            for (int which = 0; which < 4; ++which) own_table_kernel<<<1, 32>>>(which, out);
            return;
    }
    table_kernel<<<1, 32>>>(static_cast<const float*>(symbol), out);
}
__global__ void write_constant_kernel() {
    table[threadIdx.x] = 1.0f;  // mark: write constant
}
void write_constant() { write_constant_kernel<<<1, 32>>>(); }
__global__ void shared_at_kernel(float* out, long offset) {
    __shared__ float tile[32];
    tile[threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = (tile + offset)[threadIdx.x];
}
void shared_at(float* out, long offset) { shared_at_kernel<<<1, 32>>>(out, offset); }
__global__ void dynamic_at_kernel(float* out, long offset) {
    extern __shared__ float line_of_floats[];
    line_of_floats[threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = line_of_floats[threadIdx.x + offset];
}
void dynamic_at(float* out, long offset) { dynamic_at_kernel<<<1, 32, 32 * sizeof(float)>>>(out, offset); }

__global__ void local_at_kernel(float* out, int index) {
    float local[8];
    for (int i = 0; i < 8; ++i) local[i] = out[i];
    out[0] = local[index];  // mark: local at
}
void local_at(float* out, int index) { local_at_kernel<<<1, 1>>>(out, index); }
__global__ void neighbour_at_kernel(float* out, int index) {
    __shared__ float tile[32], other[32];
    tile[threadIdx.x] = other[threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = tile[index] + other[threadIdx.x];  // mark: neighbour at
}
void neighbour_at(float* out, int index) { neighbour_at_kernel<<<1, 32>>>(out, index); }
__global__ void place_in_grid_at_kernel(float* out, int times) {
    __shared__ float tile[32];
    tile[times * blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;  // mark: place in grid
    __syncthreads();
    out[threadIdx.x] = tile[31 - threadIdx.x];
}
void place_in_grid_at(float* out, int times) { place_in_grid_at_kernel<<<2, 32>>>(out, times); }
__global__ void rows_at_kernel(float* out, int row, int column) {
    __shared__ float rows[4][8];
    rows[threadIdx.x / 8][threadIdx.x % 8] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = rows[row][column];  // mark: rows at
}
void rows_at(float* out, int row, int column) { rows_at_kernel<<<1, 32>>>(out, row, column); }
__global__ void flat_rows_at_kernel(float* out, int index) {
    __shared__ float rows[4][8];
    rows[threadIdx.x / 8][threadIdx.x % 8] = 1.0f;
    __syncthreads();
    const float* const flat = &rows[0][0];
    out[threadIdx.x] = flat[index];
}
void flat_rows_at(float* out, int index) { flat_rows_at_kernel<<<1, 32>>>(out, index); }
int host_local_at(int index) {
    int local[8] = {};
    volatile int beyond[8] = {};
    return local[index] + beyond[0];  // mark: host local at
}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
__global__ void uninitialised_kernel(float* out, int* ints, double* doubles, int n) {
    float x;
    int i;
    double d;
    const int t = threadIdx.x;
    if (t < n) {
        x = out[t];
        i = ints[t];
        d = doubles[t];
    }
    out[t] = x;
    ints[t] = i;
    doubles[t] = d;
}
#pragma GCC diagnostic pop
void uninitialised(float* out, int* ints, double* doubles, int n) {
    uninitialised_kernel<<<1, 4>>>(out, ints, doubles, n);
}

void host_writes(int* data) {
    data[2] = 1;  // mark: host writes
}
int host_reads(const int* data) {
    return data[2];  // mark: host reads
}
__global__ void nothing_kernel() {}
void host_writes_constant() {
    nothing_kernel<<<1, 1>>>();
    table[1] = 2.0f;  // mark: host writes constant
}
void host_copies(int* data) {
    const std::vector<int> four(4, 4);
    cudaMemcpy(data, four.data(), sizeof(int) * four.size(), cudaMemcpyHostToDevice);
}
void host_library_reaches(Library how, int* data) {
    int four[4] = {};
    if (how == Library::memcpy_from) memcpy(four, data, sizeof four);           // mark: host memcpy from
    if (how == Library::memcpy_to) std::memcpy(data, four, sizeof four);        // mark: host memcpy to
    if (how == Library::copy) std::copy(data, data + 4, four);                  // mark: host copy
    if (how == Library::vector) four[0] = std::vector<int>(data, data + 4)[3];  // mark: host vector
    if (how == Library::sort) std::sort(data, data + 4);                        // mark: host sort
    if (how == Library::after_launch) {
        cudaMemset(data, 0, sizeof four);
        nothing_kernel<<<1, 1>>>();
        memcpy(four, data, sizeof four);  // mark: host memcpy after launch
    }
}
__global__ void double_kernel(int* data) { data[threadIdx.x] *= 2; }
int host_shares(bool waits) {
    int* data = nullptr;
    cudaMallocManaged(&data, 3 * sizeof(int));
    for (int i = 0; i < 3; ++i) data[i] = i;
    double_kernel<<<1, 3>>>(data);
    if (waits) cudaDeviceSynchronize();
    const int first = data[0] + data[1];  // mark: host reads what it shares
    double_kernel<<<1, 3>>>(data);
    int last = 0;
    cudaMemcpy(&last, &data[2], sizeof last, cudaMemcpyDeviceToHost);
    std::vector<int> copy(data, data + 3);
    cudaFree(data);
    return first + last + copy[1];
}
void host_leaks(Leak leak) {
    int *data = nullptr, *on_stream = nullptr, *of_host = nullptr, *mapped = nullptr;
    cudaMalloc(&data, 4096);                            // mark: host allocates
    cudaMallocAsync(&on_stream, 4096, nullptr);         // mark: host allocates on a stream
    cudaMallocHost(&of_host, 4096);                     // mark: host allocates of its own
    cudaHostAlloc(&mapped, 4096, cudaHostAllocMapped);  // mark: host allocates for kernels
    if (leak != Leak::device) cudaFree(data);
    if (leak != Leak::on_stream) cudaFreeAsync(on_stream, nullptr);
    if (leak != Leak::host) cudaFreeHost(of_host);
    if (leak != Leak::mapped) cudaFreeHost(mapped);
}
void host_clears(int* data, int first, int count) { cudaMemset(data + first, 0, count * sizeof(int)); }
void host_sets_no_bytes(int* data, int bytes) { cudaMemset(data, bytes, 0); }
void host_copies_much(int* data, int count) {
    std::vector<int> values(count);
    cudaMemcpy(values.data(), data, count * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(data, values.data(), count * sizeof(int), cudaMemcpyDefault);
    cudaMemcpyToSymbol(table, values.data(), 8);
    cudaMemcpyToSymbol(table, data, 8, 0, cudaMemcpyDeviceToDevice);
}
void host_copies_too_much(TooMuch what, int* data) {
    int four[4] = {};
    std::vector<int> many(100);
    if (what == TooMuch::source) cudaMemcpy(many.data(), data + 1, 16);
    if (what == TooMuch::target) cudaMemcpy(data + 1, many.data(), 16);
    if (what == TooMuch::behind) cudaMemcpy(many.data(), data + 4, 4);
    if (what == TooMuch::host_array) cudaMemcpy(four, data, 17);
    if (what == TooMuch::host_source) cudaMemcpy(data, four, 17);
    if (what == TooMuch::symbol) cudaMemcpyToSymbol(table, data + 2, 16, 0, cudaMemcpyDefault);
    if (what == TooMuch::host_memset) cudaMemset(many.data(), 0, 16);
}
int host_library(int x) {
    static const std::vector<int> first(1, x);
    const auto shared = std::make_shared<int>(x);
    const auto again = shared;
    static std::atomic<int> calls{0};
    return ++calls > 0 ? first[0] + *again : 0;
}

}  // namespace kernels
