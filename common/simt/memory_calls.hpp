// The part of the runtime interface that moves memory, and its errors.
#pragma once
#include "simt/order.hpp"
#include "simt/runtime.hpp"

#include <cstddef>
#include <initializer_list>
#include <span>

// Most errors are thrown where they happen; most of CUDA's error codes never occur here.
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

// Everything is synchronous here. Calls that are asynchronous on a GPU are also passed to simt/order.hpp.
struct CUstream_st;
using cudaStream_t = CUstream_st*;
namespace simt {
/// Returns the stream's number in simt/order.hpp. Throws kata::Error for a stream that does not exist or has
/// been destroyed. On a GPU the program may crash.
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
inline constexpr unsigned cudaMemAttachGlobal = 1, cudaMemAttachHost = 2;
/// The host may access this memory, too, while no launch may still use it.
template <class T>
cudaError_t cudaMallocManaged(T** pointer, std::size_t bytes, unsigned = cudaMemAttachGlobal,
                              simt::Site site = simt::Site::here()) {
    *pointer = static_cast<T*>(simt::device_alloc(bytes, site, "cudaMallocManaged"));
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
/// True if the host waits for such a synchronous copy. It does not wait for copies within the device.
inline bool is_waited_for(cudaMemcpyKind kind) { return kind != cudaMemcpyDeviceToDevice; }
/// Rows of device or host memory that a copy reads or writes; mostly one row.
struct Reach {
    const void* begin;
    std::size_t bytes;  // bytes of a row
    bool writes;
    std::size_t rows = 1, pitch = 0;
    bool is_symbol = false;  // the memory is a device variable, given by its name
};
/// Enqueues a copy in a stream (simt/order.hpp).
void ask_for_copy(const char* name, cudaStream_t, Site, bool waits, std::initializer_list<Reach>);
void enqueue_copy_of(const char* name, cudaStream_t, Site, bool waits, std::span<const Reach>);
inline cudaError_t fill(const char* name, void* to, int value, std::size_t bytes, cudaStream_t stream,
                        Site site) {
    ask_for_copy(name, stream, site, false, {{to, bytes, true}});
    fill_memory(to, value, bytes);
    return cudaSuccess;
}
}  // namespace simt
__forceinline__ cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes,
                                       cudaMemcpyKind kind = cudaMemcpyDefault,
                                       simt::Site site = simt::Site::here()) {
    simt::ask_for_copy("cudaMemcpy", nullptr, site, simt::is_waited_for(kind),
                       {{to, bytes, true}, {from, bytes, false}});
    return simt::copy(to, from, bytes, kind);
}
__forceinline__ cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                            cudaMemcpyKind kind = cudaMemcpyDefault,
                                            cudaStream_t stream = nullptr,
                                            simt::Site site = simt::Site::here()) {
    simt::ask_for_copy("cudaMemcpyAsync", stream, site, false, {{to, bytes, true}, {from, bytes, false}});
    return simt::copy(to, from, bytes, kind);
}
inline cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream = nullptr,
                                   simt::Site site = simt::Site::here()) {
    return simt::fill("cudaMemsetAsync", to, value, bytes, stream, site);
}
inline cudaError_t cudaMemset(void* to, int value, std::size_t bytes, simt::Site site = simt::Site::here()) {
    return simt::fill("cudaMemset", to, value, bytes, nullptr, site);
}
namespace simt {
template <class T>
cudaError_t copy_to_symbol(const char* name, T& symbol, const void* from, std::size_t bytes,
                           std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream, bool waits,
                           Site site) {
    auto* const to = reinterpret_cast<char*>(&symbol) + offset;
    ask_for_copy(name, stream, site, waits, {{to, bytes, true, 1, 0, true}, {from, bytes, false}});
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost)
        refuse_side("cudaMemcpyToSymbol", "to", false);
    if (kind != cudaMemcpyDefault)
        check_side("cudaMemcpyToSymbol", "from", from, bytes, kind == cudaMemcpyDeviceToDevice);
    check_symbol(sizeof symbol, offset, bytes);
    copy_to_symbol(to, from, bytes);
    return cudaSuccess;
}
template <class T>
cudaError_t copy_from_symbol(const char* name, void* to, const T& symbol, std::size_t bytes,
                             std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream, bool waits,
                             Site site) {
    const auto* const from = reinterpret_cast<const char*>(&symbol) + offset;
    ask_for_copy(name, stream, site, waits, {{to, bytes, true}, {from, bytes, false, 1, 0, true}});
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice)
        refuse_side("cudaMemcpyFromSymbol", "from", false);
    if (kind != cudaMemcpyDefault)
        check_side("cudaMemcpyFromSymbol", "to", to, bytes, kind == cudaMemcpyDeviceToDevice);
    check_symbol(sizeof symbol, offset, bytes);
    copy_from_symbol(to, from, bytes);
    return cudaSuccess;
}
}  // namespace simt
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                    cudaStream_t stream = nullptr, simt::Site site = simt::Site::here()) {
    return simt::copy_to_symbol("cudaMemcpyToSymbolAsync", symbol, from, bytes, offset, kind, stream, false,
                                site);
}
template <class T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                               simt::Site site = simt::Site::here()) {
    return simt::copy_to_symbol("cudaMemcpyToSymbol", symbol, from, bytes, offset, kind, nullptr,
                                simt::is_waited_for(kind), site);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                      cudaStream_t stream = nullptr, simt::Site site = simt::Site::here()) {
    return simt::copy_from_symbol("cudaMemcpyFromSymbolAsync", to, symbol, bytes, offset, kind, stream, false,
                                  site);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                 simt::Site site = simt::Site::here()) {
    return simt::copy_from_symbol("cudaMemcpyFromSymbol", to, symbol, bytes, offset, kind, nullptr,
                                  simt::is_waited_for(kind), site);
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
    cudaFuncAttributePreferredSharedMemoryCarveout = 9,  // a hint about the L1 cache, of which there is none
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
namespace simt {
/// A statement that only calls one of these functions is read as a call of its counterpart (translate.py):
/// dropping the result is no check.
inline cudaError_t dropped_cudaGetLastError() { return cudaSuccess; }
inline cudaError_t dropped_cudaPeekAtLastError() { return cudaSuccess; }
}  // namespace simt
