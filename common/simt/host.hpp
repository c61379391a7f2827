// The part of the runtime interface that does not move memory: streams, events, device properties, occupancy,
// and allocation other than by cudaMalloc.
//
// Everything is done at once, in the order of the program, which is one of the orders that streams allow.
// Waits return at once; simt/order.hpp knows whether one is missing.
#pragma once
#include "simt/memory_calls.hpp"
#include "simt/runtime.hpp"

#include <cstddef>
#include <optional>
#include <type_traits>
#include <vector>

struct CUevent_st;
using cudaEvent_t = CUevent_st*;

inline constexpr unsigned cudaStreamDefault = 0, cudaStreamNonBlocking = 1;
inline constexpr unsigned cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2;
inline const cudaStream_t cudaStreamLegacy = reinterpret_cast<cudaStream_t>(1);
inline const cudaStream_t cudaStreamPerThread = reinterpret_cast<cudaStream_t>(2);

namespace simt {

cudaStream_t create_stream(bool blocking, Site);
void destroy_stream(cudaStream_t);
cudaEvent_t create_event(bool timed, Site);
void destroy_event(cudaEvent_t);
// These throw kata::Error if there is no such event, the second one in the name of `function`.
void record(cudaEvent_t, unsigned stream);
void wait_for_event(cudaEvent_t, const char* function);
void let_wait_for_event(unsigned stream, cudaEvent_t);
/// Returns a finding for each stream and event created since the last call and not destroyed.
std::vector<std::string> kept_streams();
/// Returns nothing unless both have been recorded and keep time.
std::optional<float> milliseconds_between(cudaEvent_t start, cudaEvent_t end);

/// Allocates pinned memory of the host. If it is `mapped`, kernels may access it, like managed memory.
void* host_alloc(std::size_t bytes, Site, bool mapped = false);
void host_free(void*);
// The parts of these that are done where kernels run. unpin() returns false if the memory is mapped.
void* map_for_host(std::size_t bytes, Site);
void pin(const void*, std::size_t bytes, Site);
bool unpin(void*);
/// Returns a finding for each piece of pinned memory allocated since the last call and not freed.
std::vector<std::string> kept_host_memory();

/// Returns the bytes of device memory allocated now.
std::size_t allocated();
/// Returns how many blocks of the kernel fit on a multiprocessor, by threads and shared memory. The registers
/// of a kernel are not known here.
int blocks_at_a_time(const void* kernel, int block, std::size_t dynamic_shared);

}  // namespace simt

// Streams.

inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags,
                                             simt::Site site = simt::Site::here()) {
    *stream = simt::create_stream((flags & cudaStreamNonBlocking) == 0, site);
    return cudaSuccess;
}
inline cudaError_t cudaStreamCreate(cudaStream_t* stream, simt::Site site = simt::Site::here()) {
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault, site);
}
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int,
                                                simt::Site site = simt::Site::here()) {
    return cudaStreamCreateWithFlags(stream, flags, site);
}
inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    *least = *greatest = 0;
    return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    simt::destroy_stream(stream);
    return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    simt::wait_for_stream(simt::number_of(stream, "cudaStreamSynchronize"));
    return cudaSuccess;
}
inline cudaError_t cudaStreamQuery(cudaStream_t stream) {
    simt::wait_for_stream(simt::number_of(stream, "cudaStreamQuery"));
    return cudaSuccess;
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned = 0) {
    const auto number = simt::number_of(stream, "cudaStreamWaitEvent");
    simt::let_wait_for_event(number, event);
    return cudaSuccess;
}

// Events. The time between two of them is that of the simulation and says nothing about a GPU. It is larger
// than 0, so that a bandwidth can be computed from it.

inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags,
                                            simt::Site site = simt::Site::here()) {
    *event = simt::create_event((flags & cudaEventDisableTiming) == 0, site);
    return cudaSuccess;
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags, simt::Site site = simt::Site::here()) {
    return cudaEventCreateWithFlags(event, flags, site);
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event, simt::Site site = simt::Site::here()) {
    return cudaEventCreateWithFlags(event, cudaEventDefault, site);
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
    simt::destroy_event(event);
    return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr) {
    simt::record(event, simt::number_of(stream, "cudaEventRecord"));
    return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    simt::wait_for_event(event, "cudaEventSynchronize");
    return cudaSuccess;
}
inline cudaError_t cudaEventQuery(cudaEvent_t event) {
    simt::wait_for_event(event, "cudaEventQuery");
    return cudaSuccess;
}
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
    const auto between = simt::milliseconds_between(start, end);
    if (!between) return cudaErrorInvalidResourceHandle;
    *milliseconds = *between;
    return cudaSuccess;
}

// Other allocation and copy functions.

template <class T>
cudaError_t cudaMallocAsync(T** pointer, std::size_t bytes, cudaStream_t stream,
                            simt::Site site = simt::Site::here()) {
    simt::number_of(stream, "cudaMallocAsync");
    return cudaMalloc(pointer, bytes, site);
}
inline cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
    simt::number_of(stream, "cudaFreeAsync");
    simt::device_free(pointer);
    return cudaSuccess;
}
inline constexpr unsigned cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2,
                          cudaHostAllocWriteCombined = 4;
template <class T>
cudaError_t cudaHostAlloc(T** pointer, std::size_t bytes, unsigned flags = cudaHostAllocDefault,
                          simt::Site site = simt::Site::here()) {
    *pointer = static_cast<T*>(simt::host_alloc(bytes, site, (flags & cudaHostAllocMapped) != 0));
    return cudaSuccess;
}
template <class T>
cudaError_t cudaHostGetDevicePointer(T** pointer, void* mapped, unsigned) {
    *pointer = static_cast<T*>(mapped);
    return cudaSuccess;
}
// Pins memory that the program has: a copy from there is checked like one from memory that is not pinned.
inline constexpr unsigned cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1;
inline cudaError_t cudaHostRegister(void*, std::size_t, unsigned) { return cudaSuccess; }
inline cudaError_t cudaHostUnregister(void*) { return cudaSuccess; }
template <class T>
cudaError_t cudaMallocHost(T** pointer, std::size_t bytes, unsigned flags = cudaHostAllocDefault,
                           simt::Site site = simt::Site::here()) {
    return cudaHostAlloc(pointer, bytes, flags, site);
}
inline cudaError_t cudaFreeHost(void* pointer) {
    simt::host_free(pointer);
    return cudaSuccess;
}
/// Allocates rows of `width` bytes. The pitch is a multiple of 512 here.
template <class T>
cudaError_t cudaMallocPitch(T** pointer, std::size_t* pitch, std::size_t width, std::size_t height,
                            simt::Site site = simt::Site::here()) {
    *pitch = (width + 511) / 512 * 512;
    return cudaMalloc(pointer, *pitch * height, site);
}
namespace simt {
inline cudaError_t copy_rows(const char* name, void* to, std::size_t to_pitch, const void* from,
                             std::size_t from_pitch, std::size_t width, std::size_t height,
                             cudaMemcpyKind kind, cudaStream_t stream, bool waits, Site site) {
    if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
    ask_for_copy(name, stream, site, waits,
                 {{to, width, true, height, to_pitch}, {from, width, false, height, from_pitch}});
    for (std::size_t y = 0; y < height; ++y)
        copy(static_cast<char*>(to) + y * to_pitch, static_cast<const char*>(from) + y * from_pitch, width,
             kind);
    return cudaSuccess;
}
}  // namespace simt
inline cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                simt::Site site = simt::Site::here()) {
    return simt::copy_rows("cudaMemcpy2D", to, to_pitch, from, from_pitch, width, height, kind, nullptr,
                           simt::is_waited_for(kind), site);
}
inline cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                     std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream = nullptr, simt::Site site = simt::Site::here()) {
    return simt::copy_rows("cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width, height, kind, stream,
                           false, site);
}
inline cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                                simt::Site site = simt::Site::here()) {
    if (width > pitch) return cudaErrorInvalidPitchValue;
    simt::ask_for_copy("cudaMemset2D", nullptr, site, false, {{to, width, true, height, pitch}});
    for (std::size_t y = 0; y < height; ++y)
        simt::fill_memory(static_cast<char*>(to) + y * pitch, value, width);
    return cudaSuccess;
}

// The device: an H100 (SXM5), like the limits of a launch.

struct cudaDeviceProp {
    char name[256];
    std::size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    std::size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    std::size_t totalConstMem;
    int major, minor, multiProcessorCount, integrated, canMapHostMemory, concurrentKernels, ECCEnabled;
    int asyncEngineCount, unifiedAddressing, memoryBusWidth, l2CacheSize, maxThreadsPerMultiProcessor;
    std::size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor, managedMemory, cooperativeLaunch;
    std::size_t sharedMemPerBlockOptin;
    int maxBlocksPerMultiProcessor;
    std::size_t reservedSharedMemPerBlock;
    std::size_t textureAlignment, surfaceAlignment;
    int maxTexture1D, maxTexture2D[2], maxTexture3D[3];
    int pciBusID, pciDeviceID, pciDomainID, tccDriver, isMultiGpuBoard, streamPrioritiesSupported;
    int globalL1CacheSupported, localL1CacheSupported, concurrentManagedAccess, pageableMemoryAccess;
    int computePreemptionSupported, hostRegisterSupported;
    // Until CUDA 12. In kHz.
    int clockRate, memoryClockRate, computeMode, kernelExecTimeoutEnabled, deviceOverlap;
};
enum cudaComputeMode {
    cudaComputeModeDefault,
    cudaComputeModeProhibited = 2,
    cudaComputeModeExclusiveProcess
};
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxBlockDimX = 2,
    cudaDevAttrMaxBlockDimY = 3,
    cudaDevAttrMaxBlockDimZ = 4,
    cudaDevAttrMaxGridDimX = 5,
    cudaDevAttrMaxGridDimY = 6,
    cudaDevAttrMaxGridDimZ = 7,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrTotalConstantMemory = 9,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMaxRegistersPerBlock = 12,
    cudaDevAttrClockRate = 13,
    cudaDevAttrTextureAlignment = 14,
    cudaDevAttrGpuOverlap = 15,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrKernelExecTimeout = 17,
    cudaDevAttrIntegrated = 18,
    cudaDevAttrCanMapHostMemory = 19,
    cudaDevAttrComputeMode = 20,
    cudaDevAttrConcurrentKernels = 31,
    cudaDevAttrMemoryClockRate = 36,
    cudaDevAttrGlobalMemoryBusWidth = 37,
    cudaDevAttrL2CacheSize = 38,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrAsyncEngineCount = 40,
    cudaDevAttrUnifiedAddressing = 41,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxRegistersPerMultiprocessor = 82,
    cudaDevAttrManagedMemory = 83,
    cudaDevAttrConcurrentManagedAccess = 89,
    cudaDevAttrComputePreemptionSupported = 90,
    cudaDevAttrCooperativeLaunch = 95,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    cudaDevAttrMaxBlocksPerMultiprocessor = 106,
    cudaDevAttrReservedSharedMemoryPerBlock = 111,
};
cudaError_t cudaGetDeviceProperties(cudaDeviceProp*, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int device);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
inline cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }
inline cudaError_t cudaGetDevice(int* device) {
    *device = 0;
    return cudaSuccess;
}
inline cudaError_t cudaGetDeviceCount(int* count) {
    *count = 1;
    return cudaSuccess;
}
inline constexpr unsigned cudaDeviceScheduleAuto = 0, cudaDeviceScheduleSpin = 1, cudaDeviceScheduleYield = 2,
                          cudaDeviceScheduleBlockingSync = 4, cudaDeviceMapHost = 8;
inline cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
/// Only waits: what the program keeps is reported as never freed.
inline cudaError_t cudaDeviceReset() { return cudaDeviceSynchronize(); }
inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }
inline cudaError_t cudaRuntimeGetVersion(int* version) {
    *version = 13000;
    return cudaSuccess;
}
inline cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }

enum cudaFuncCache {
    cudaFuncCachePreferNone,
    cudaFuncCachePreferShared,
    cudaFuncCachePreferL1,
    cudaFuncCachePreferEqual
};
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
template <class... Parameters>
cudaError_t cudaFuncSetCacheConfig(void (*)(Parameters...), cudaFuncCache) {
    return cudaSuccess;
}

inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int block,
                                                                 std::size_t dynamic_shared) {
    if (block <= 0) return cudaErrorInvalidValue;
    *blocks = simt::blocks_at_a_time(kernel, block, dynamic_shared);
    return cudaSuccess;
}
/// Returns the largest block that fills a multiprocessor as well as any, and the grid that fills the device
/// with it.
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, const void* kernel,
                                                      std::size_t dynamic_shared = 0, int limit = 0) {
    int most = 0, multiprocessors = 0;
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    for (int size = limit == 0 || limit > 1024 ? 1024 : limit / 32 * 32; size >= 32; size -= 32) {
        const int blocks = simt::blocks_at_a_time(kernel, size, dynamic_shared);
        if (blocks * size <= most) continue;
        most = blocks * size;
        *block = size;
        *grid = blocks * multiprocessors;
    }
    return most > 0 ? cudaSuccess : cudaErrorInvalidValue;
}
template <class... Parameters>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void (*kernel)(Parameters...),
                                                          int block, std::size_t dynamic_shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, reinterpret_cast<const void*>(kernel), block,
                                                         dynamic_shared);
}
template <class... Parameters>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, void (*kernel)(Parameters...),
                                               std::size_t dynamic_shared = 0, int limit = 0) {
    return cudaOccupancyMaxPotentialBlockSize(grid, block, reinterpret_cast<const void*>(kernel),
                                              dynamic_shared, limit);
}
