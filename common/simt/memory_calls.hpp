// The part of the runtime interface that moves memory, and its errors.
#pragma once
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

// The part of the runtime interface that a step's host code needs. Everything is synchronous here.
struct CUstream_st;
using cudaStream_t = CUstream_st*;
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
    simt::device_free(pointer);
    return cudaSuccess;
}
__forceinline__ cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes,
                                       cudaMemcpyKind kind = cudaMemcpyDefault) {
    if (kind != cudaMemcpyDefault) {
        simt::check_side("cudaMemcpy", "to", to, bytes,
                         kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice);
        simt::check_side("cudaMemcpy", "from", from, bytes,
                         kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice);
    }
    simt::copy_memory(to, from, bytes, {__builtin_object_size(to, 0), __builtin_object_size(from, 0)});
    return cudaSuccess;
}
__forceinline__ cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                            cudaMemcpyKind kind = cudaMemcpyDefault, cudaStream_t = nullptr) {
    return cudaMemcpy(to, from, bytes, kind);
}
inline cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
    simt::fill_memory(to, value, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t = nullptr) {
    return cudaMemset(to, value, bytes);
}
template <class T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost)
        simt::refuse_side("cudaMemcpyToSymbol", "to", false);
    if (kind != cudaMemcpyDefault)
        simt::check_side("cudaMemcpyToSymbol", "from", from, bytes, kind == cudaMemcpyDeviceToDevice);
    simt::check_symbol(sizeof symbol, offset, bytes);
    simt::copy_to_symbol(reinterpret_cast<char*>(&symbol) + offset, from, bytes);
    return cudaSuccess;
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t = nullptr) {
    return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
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

inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaGetLastError() {
    simt::launches_are_checked();
    return cudaSuccess;
}
inline cudaError_t cudaPeekAtLastError() { return cudaGetLastError(); }
