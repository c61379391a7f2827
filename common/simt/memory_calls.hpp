// The part of the runtime interface that moves memory, and its errors.
#pragma once
#include "simt/order.hpp"
#include "simt/runtime.hpp"

#include <cstddef>

// Most of what goes wrong is thrown where it happens; the rest of CUDA's errors is never met here.
enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidPitchValue = 12,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchFailure = 719,
    cudaErrorNotSupported = 801,
    cudaErrorUnknown = 999
};
const char* cudaGetErrorString(cudaError_t);
const char* cudaGetErrorName(cudaError_t);

// The part of the runtime interface that a step's host code needs. Everything is synchronous here; what is
// not on a GPU, simt/order.hpp is told.
struct CUstream_st;
using cudaStream_t = CUstream_st*;
namespace simt {
/// By which simt/order.hpp knows a stream. A name that CUDA has not given, or that has been destroyed, throws
/// kata::Error, as a GPU's program may crash.
unsigned number_of(const void* stream, const char* who);
}  // namespace simt
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};

template <class T>
cudaError_t cudaMalloc(T** pointer, std::size_t bytes, simt::Site site = simt::Site::here()) {
    *pointer = static_cast<T*>(simt::device_alloc(bytes, site));
    return cudaSuccess;
}
inline cudaError_t cudaFree(void* pointer) {
    simt::wait_for_all_streams();
    simt::device_free(pointer);
    return cudaSuccess;
}
namespace simt {
__forceinline__ cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    if (kind != cudaMemcpyDefault) {
        simt::check_side("cudaMemcpy", "to", to, bytes,
                         kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice);
        simt::check_side("cudaMemcpy", "from", from, bytes,
                         kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice);
    }
    simt::copy_memory(to, from, bytes, {__builtin_object_size(to, 0), __builtin_object_size(from, 0)});
    return cudaSuccess;
}
/// Whether the host waits for a copy that is not asynchronous: not for one within the device.
inline bool is_waited_for(cudaMemcpyKind kind) { return kind != cudaMemcpyDeviceToDevice; }
}  // namespace simt
__forceinline__ cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes,
                                       cudaMemcpyKind kind = cudaMemcpyDefault,
                                       simt::Site site = simt::Site::here()) {
    simt::ask_stream(simt::default_stream, simt::Task::copy, "cudaMemcpy", site, simt::is_waited_for(kind));
    return simt::copy(to, from, bytes, kind);
}
__forceinline__ cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                            cudaMemcpyKind kind = cudaMemcpyDefault,
                                            cudaStream_t stream = nullptr,
                                            simt::Site site = simt::Site::here()) {
    simt::ask_stream(simt::number_of(stream, "cudaMemcpyAsync"), simt::Task::copy, "cudaMemcpyAsync", site,
                     false);
    return simt::copy(to, from, bytes, kind);
}
inline cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream = nullptr,
                                   simt::Site site = simt::Site::here()) {
    simt::ask_stream(simt::number_of(stream, "cudaMemset"), simt::Task::copy, "cudaMemset", site, false);
    simt::fill_memory(to, value, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemset(void* to, int value, std::size_t bytes, simt::Site site = simt::Site::here()) {
    return cudaMemsetAsync(to, value, bytes, nullptr, site);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                    cudaStream_t stream = nullptr, simt::Site site = simt::Site::here()) {
    simt::ask_stream(simt::number_of(stream, "cudaMemcpyToSymbolAsync"), simt::Task::copy,
                     "cudaMemcpyToSymbol", site, false);
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost)
        simt::refuse_side("cudaMemcpyToSymbol", "to", false);
    if (kind != cudaMemcpyDefault)
        simt::check_side("cudaMemcpyToSymbol", "from", from, bytes, kind == cudaMemcpyDeviceToDevice);
    simt::check_symbol(sizeof symbol, offset, bytes);
    simt::copy_to_symbol(reinterpret_cast<char*>(&symbol) + offset, from, bytes);
    return cudaSuccess;
}
template <class T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                               simt::Site site = simt::Site::here()) {
    const auto error = cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, nullptr, site);
    if (simt::is_waited_for(kind)) simt::wait_for_stream(simt::default_stream);
    return error;
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice)
        simt::refuse_side("cudaMemcpyFromSymbol", "from", false);
    if (kind != cudaMemcpyDefault)
        simt::check_side("cudaMemcpyFromSymbol", "to", to, bytes, kind == cudaMemcpyDeviceToDevice);
    simt::check_symbol(sizeof symbol, offset, bytes);
    simt::copy_from_symbol(to, reinterpret_cast<const char*>(&symbol) + offset, bytes);
    return cudaSuccess;
}
template <class T>
cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol) {
    *pointer =
        simt::symbol_address(const_cast<void*>(static_cast<const volatile void*>(&symbol)), sizeof symbol);
    return cudaSuccess;
}
template <class T>
cudaError_t cudaGetSymbolSize(std::size_t* bytes, const T& symbol) {
    *bytes = sizeof symbol;
    return cudaSuccess;
}
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9,  // a wish about the L1 cache, of which there is none
};
inline cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) simt::allow_shared(kernel, value);
    return cudaSuccess;
}
template <class... Parameters>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...), cudaFuncAttribute attribute, int value) {
    return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}

inline cudaError_t cudaDeviceSynchronize() {
    simt::wait_for_all_streams();
    return cudaSuccess;
}
inline cudaError_t cudaGetLastError() {
    simt::launches_are_checked();
    return cudaSuccess;
}
inline cudaError_t cudaPeekAtLastError() { return cudaGetLastError(); }
