#include "simt/host.hpp"

#include "error.hpp"
#include "simt/elsewhere.hpp"
#include "simt/footprint.hpp"
#include "simt/grid.hpp"
#include "simt/image.hpp"
#include "simt/memory.hpp"
#include "simt/order.hpp"
#include "simt/session.hpp"
#include "simt/text.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

struct CUstream_st {
    unsigned number;  // the stream's number in simt/order.hpp
    std::string origin;
    bool kept = false;  // kept beyond the end of an observation
};
struct CUevent_st {
    bool timed;
    std::string origin;
    bool kept = false;
    simt::Before before = {};
    std::optional<std::chrono::steady_clock::time_point> recorded = {};
};

namespace simt {

namespace {

// Properties of an H100 SXM5 other than the limits of a launch and the number of multiprocessors.
constexpr int threads_at_a_time = 2048, most_blocks_at_a_time = 32, registers = 65536;
constexpr int l2_bytes = 50 * 1024 * 1024, bus_bits = 5120;
constexpr std::size_t memory = 80ull << 30, constant_memory = 64 * 1024;
constexpr std::size_t shared_at_a_time = 228 * 1024, shared_reserved = 1024;  // the second per block

template <class T>
using Owned = std::map<const T*, std::unique_ptr<T>>;
Owned<CUstream_st> streams;
Owned<CUevent_st> events;

struct HostMemory {
    Range range;
    std::string origin;
    bool kept = false;  // kept beyond the end of an observation
};
std::map<const void*, HostMemory> host_memory;
std::set<void*> mapped_memory;

/// True for memory of the host that is not pinned by one of these.
bool is_pageable(const void* pointer) {
    return !is_of_device(pointer) &&
           std::none_of(host_memory.begin(), host_memory.end(), [&](const auto& memory) {
               return memory.second.range.contains(reinterpret_cast<std::uintptr_t>(pointer));
           });
}

[[noreturn]] void refuse(const std::string& who, const char* what) {
    throw kata::Error(who + " refused: there is no such " + what + ", or it has been destroyed already");
}

CUevent_st& event_of(cudaEvent_t event, const char* who) {
    const auto found = events.find(event);
    if (found == events.end()) refuse(who, "event");
    return *found->second;
}

}  // namespace

cudaStream_t create_stream(bool blocking, Site site) {
    if (const auto there = elsewhere<create_stream>) return there(blocking, site);
    auto stream = std::make_unique<CUstream_st>(CUstream_st{new_stream(blocking), text_of(site)});
    auto* const name = stream.get();
    streams[name] = std::move(stream);
    return name;
}
void destroy_stream(cudaStream_t stream) {
    if (const auto there = elsewhere<destroy_stream>) return there(stream);
    const auto found = streams.find(stream);
    if (found == streams.end()) refuse("cudaStreamDestroy", "stream");
    end_stream(found->second->number);
    streams.erase(found);
}
unsigned number_of(const void* stream, const char* who) {
    if (stream == nullptr || stream == cudaStreamLegacy) return default_stream;
    if (stream == cudaStreamPerThread) return stream_of_thread;
    if (const auto there = elsewhere<number_of>) return there(stream, who);
    const auto found = streams.find(static_cast<const CUstream_st*>(stream));
    if (found == streams.end()) refuse(who, "stream");
    return found->second->number;
}

cudaEvent_t create_event(bool timed, Site site) {
    if (const auto there = elsewhere<create_event>) return there(timed, site);
    auto event = std::make_unique<CUevent_st>(CUevent_st{timed, text_of(site)});
    auto* const name = event.get();
    events[name] = std::move(event);
    return name;
}
void destroy_event(cudaEvent_t event) {
    if (const auto there = elsewhere<destroy_event>) return there(event);
    if (events.erase(event) == 0) refuse("cudaEventDestroy", "event");
}
void record(cudaEvent_t event, unsigned stream) {
    if (const auto there = elsewhere<record>) return there(event, stream);
    auto& recorded = event_of(event, "cudaEventRecord");
    recorded.recorded = std::chrono::steady_clock::now();
    recorded.before = before_event(stream);
}
void let_wait_for_event(unsigned stream, cudaEvent_t event) {
    if (const auto there = elsewhere<let_wait_for_event>) return there(stream, event);
    let_stream_wait(stream, event_of(event, "cudaStreamWaitEvent").before);
}
void wait_for_event(cudaEvent_t event, const char* function) {
    if (const auto there = elsewhere<wait_for_event>) return there(event, function);
    wait_for(event_of(event, function).before);
}
std::optional<float> milliseconds_between(cudaEvent_t start, cudaEvent_t end) {
    if (const auto there = elsewhere<milliseconds_between>) return there(start, end);
    const auto &first = event_of(start, "cudaEventElapsedTime"),
               &last = event_of(end, "cudaEventElapsedTime");
    if (!first.timed || !last.timed || !first.recorded || !last.recorded) return std::nullopt;
    const std::chrono::duration<float, std::milli> between = *last.recorded - *first.recorded;
    return std::max(between.count(), 1e-6f);
}

void pin(const void* pointer, std::size_t bytes, Site site) {
    if (const auto there = elsewhere<pin>) return there(pointer, bytes, site);
    const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
    host_memory[pointer] = {{begin, begin + bytes}, text_of(site)};
}
bool unpin(void* pointer) {
    if (const auto there = elsewhere<unpin>) return there(pointer);
    if (const auto memory = host_memory.find(pointer); memory != host_memory.end()) {
        forget_memory(memory->second.range);
        host_memory.erase(memory);
        return true;
    }
    if (mapped_memory.erase(pointer))
        device_free(pointer);
    else if (pointer)
        throw kata::Error(
            "cudaFreeHost refused: that is not a pointer from cudaMallocHost or cudaHostAlloc, or has been "
            "freed already");
    return false;
}
void* map_for_host(std::size_t bytes, Site site) {
    if (const auto there = elsewhere<map_for_host>) return there(bytes, site);
    return *mapped_memory.insert(device_alloc(bytes, site, "cudaHostAlloc")).first;
}

void* host_alloc(std::size_t bytes, Site site, bool mapped) {
    if (mapped) return map_for_host(bytes, site);
    auto* const pointer = new std::byte[bytes]();
    pin(pointer, bytes, site);
    return pointer;
}
void host_free(void* pointer) {
    if (unpin(pointer)) delete[] static_cast<std::byte*>(pointer);
}

void ask_for_copy(const char* name, cudaStream_t stream, Site site, bool waits,
                  std::initializer_list<Reach> reaches) {
    enqueue_copy_of(name, stream, site, waits, {std::data(reaches), reaches.size()});
}
void enqueue_copy_of(const char* name, cudaStream_t stream, Site site, bool waits,
                     std::span<const Reach> reaches) {
    if (const auto there = elsewhere<enqueue_copy_of>) return there(name, stream, site, waits, reaches);
    Footprint reached;
    for (const auto& reach : reaches) {
        // A copy from pageable memory has read all of it when the call returns, and one to pageable memory is
        // done then.
        if (!reach.is_symbol && is_pageable(reach.begin)) {
            waits = waits || reach.writes;
            continue;
        }
        auto& bytes = reach.writes ? reached.written : reached.read;
        const auto begin = reinterpret_cast<std::uintptr_t>(reach.begin);
        for (std::size_t row = 0; row < reach.rows; ++row)
            bytes.add({begin + row * reach.pitch, begin + row * reach.pitch + reach.bytes});
    }
    enqueue_copy(name, number_of(stream, name), site, waits, std::move(reached));
}

std::vector<std::string> kept_host_memory() {
    std::vector<std::string> findings;
    for (auto& [pointer, memory] : host_memory)
        if (!std::exchange(memory.kept, true))
            findings.push_back("never freed: " + std::to_string(memory.range.size()) +
                               " bytes of the host that cudaMallocHost has allocated in " + memory.origin +
                               ": free them with cudaFreeHost");
    return findings;
}

std::vector<std::string> kept_streams() {
    std::vector<std::string> findings;
    const auto tell = [&](const auto& all, const std::string& kind, const std::string& destroys) {
        for (const auto& [name, one] : all)
            if (!std::exchange(one->kept, true))
                findings.push_back("never destroyed: the " + kind + " that is created in " + one->origin +
                                   ": destroy it with " + destroys);
    };
    tell(streams, "stream", "cudaStreamDestroy");
    tell(events, "event", "cudaEventDestroy");
    return findings;
}

std::size_t allocated() {
    if (const auto there = elsewhere<allocated>) return there();
    std::size_t sum = 0;
    for (const auto& a : allocations()) sum += a.range.size();
    return sum;
}

int blocks_at_a_time(const void* kernel, int block, std::size_t dynamic_shared) {
    if (const auto there = elsewhere<blocks_at_a_time>) return there(kernel, block, dynamic_shared);
    const auto shared = shared_of(image_of(kernel), kernel) + dynamic_shared;
    if (block > static_cast<int>(limits.threads) || shared > limits.shared) return 0;
    const int warps = (block + 31) / 32;
    return std::min({threads_at_a_time / 32 / warps, most_blocks_at_a_time,
                     static_cast<int>(shared_at_a_time / (shared + shared_reserved))});
}

}  // namespace simt

const char* cudaGetErrorString(cudaError_t error) {
    switch (error) {
        case cudaSuccess:
            return "no error";
        case cudaErrorInvalidValue:
            return "invalid argument";
        case cudaErrorMemoryAllocation:
            return "out of memory";
        case cudaErrorInvalidConfiguration:
            return "invalid configuration argument";
        case cudaErrorInvalidPitchValue:
            return "invalid pitch argument";
        case cudaErrorInvalidDevice:
            return "invalid device ordinal";
        case cudaErrorInvalidResourceHandle:
            return "invalid resource handle";
        case cudaErrorNotReady:
            return "device not ready";
        case cudaErrorIllegalAddress:
            return "an illegal memory access was encountered";
        case cudaErrorLaunchFailure:
            return "unspecified launch failure";
        case cudaErrorNotSupported:
            return "operation not supported";
        default:
            return "unknown error";
    }
}

const char* cudaGetErrorName(cudaError_t error) {
#define SIMT_NAME(error) \
    case error:          \
        return #error;
    switch (error) {
        SIMT_NAME(cudaSuccess)
        SIMT_NAME(cudaErrorInvalidValue)
        SIMT_NAME(cudaErrorMemoryAllocation)
        SIMT_NAME(cudaErrorInvalidConfiguration)
        SIMT_NAME(cudaErrorInvalidPitchValue)
        SIMT_NAME(cudaErrorInvalidDevice)
        SIMT_NAME(cudaErrorInvalidResourceHandle)
        SIMT_NAME(cudaErrorNotReady)
        SIMT_NAME(cudaErrorIllegalAddress)
        SIMT_NAME(cudaErrorLaunchFailure)
        SIMT_NAME(cudaErrorNotSupported)
        default:
            return "cudaErrorUnknown";
    }
#undef SIMT_NAME
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
    using namespace simt;
    if (device != 0) return cudaErrorInvalidDevice;
    *p = {};
    std::strcpy(p->name, "CPU back end, limits of an NVIDIA H100");
    p->totalGlobalMem = memory;
    p->sharedMemPerBlock = limits.unasked;
    p->sharedMemPerBlockOptin = limits.shared;
    p->sharedMemPerMultiprocessor = shared_at_a_time;
    p->reservedSharedMemPerBlock = shared_reserved;
    p->regsPerBlock = p->regsPerMultiprocessor = registers;
    p->warpSize = 32;
    p->memPitch = 2147483647;
    p->maxThreadsPerBlock = static_cast<int>(limits.threads);
    p->maxThreadsPerMultiProcessor = threads_at_a_time;
    p->maxBlocksPerMultiProcessor = most_blocks_at_a_time;
    const unsigned block[] = {limits.block.x, limits.block.y, limits.block.z};
    const unsigned grid[] = {limits.grid.x, limits.grid.y, limits.grid.z};
    std::copy(block, block + 3, p->maxThreadsDim);
    std::copy(grid, grid + 3, p->maxGridSize);
    p->totalConstMem = constant_memory;
    p->major = 9;
    p->multiProcessorCount = multiprocessors();
    p->concurrentKernels = p->unifiedAddressing = p->canMapHostMemory = p->ECCEnabled = 1;
    p->asyncEngineCount = 3;
    p->memoryBusWidth = bus_bits;
    p->l2CacheSize = l2_bytes;
    p->managedMemory = p->hostRegisterSupported = p->streamPrioritiesSupported = p->deviceOverlap = 1;
    p->globalL1CacheSupported = p->localL1CacheSupported = p->computePreemptionSupported = 1;
    p->textureAlignment = p->surfaceAlignment = 512;
    p->maxTexture1D = p->maxTexture2D[0] = 131072;
    p->maxTexture2D[1] = 65536;
    std::fill(p->maxTexture3D, p->maxTexture3D + 3, 16384);
    p->clockRate = 1980000;
    p->memoryClockRate = 2619000;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    cudaDeviceProp p;
    if (const auto error = cudaGetDeviceProperties(&p, device); error != cudaSuccess) return error;
    const std::map<cudaDeviceAttr, std::size_t> values{
        {cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
        {cudaDevAttrMaxBlockDimX, p.maxThreadsDim[0]},
        {cudaDevAttrMaxBlockDimY, p.maxThreadsDim[1]},
        {cudaDevAttrMaxBlockDimZ, p.maxThreadsDim[2]},
        {cudaDevAttrMaxGridDimX, p.maxGridSize[0]},
        {cudaDevAttrMaxGridDimY, p.maxGridSize[1]},
        {cudaDevAttrMaxGridDimZ, p.maxGridSize[2]},
        {cudaDevAttrMaxSharedMemoryPerBlock, p.sharedMemPerBlock},
        {cudaDevAttrTotalConstantMemory, p.totalConstMem},
        {cudaDevAttrWarpSize, p.warpSize},
        {cudaDevAttrMaxRegistersPerBlock, p.regsPerBlock},
        {cudaDevAttrClockRate, p.clockRate},
        {cudaDevAttrTextureAlignment, p.textureAlignment},
        {cudaDevAttrGpuOverlap, p.deviceOverlap},
        {cudaDevAttrKernelExecTimeout, p.kernelExecTimeoutEnabled},
        {cudaDevAttrIntegrated, p.integrated},
        {cudaDevAttrCanMapHostMemory, p.canMapHostMemory},
        {cudaDevAttrComputeMode, p.computeMode},
        {cudaDevAttrConcurrentKernels, p.concurrentKernels},
        {cudaDevAttrMemoryClockRate, p.memoryClockRate},
        {cudaDevAttrAsyncEngineCount, p.asyncEngineCount},
        {cudaDevAttrUnifiedAddressing, p.unifiedAddressing},
        {cudaDevAttrConcurrentManagedAccess, p.concurrentManagedAccess},
        {cudaDevAttrComputePreemptionSupported, p.computePreemptionSupported},
        {cudaDevAttrMultiProcessorCount, p.multiProcessorCount},
        {cudaDevAttrGlobalMemoryBusWidth, p.memoryBusWidth},
        {cudaDevAttrL2CacheSize, p.l2CacheSize},
        {cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor},
        {cudaDevAttrComputeCapabilityMajor, p.major},
        {cudaDevAttrComputeCapabilityMinor, p.minor},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, p.sharedMemPerMultiprocessor},
        {cudaDevAttrMaxRegistersPerMultiprocessor, p.regsPerMultiprocessor},
        {cudaDevAttrManagedMemory, p.managedMemory},
        {cudaDevAttrCooperativeLaunch, p.cooperativeLaunch},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, p.sharedMemPerBlockOptin},
        {cudaDevAttrMaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor},
        {cudaDevAttrReservedSharedMemoryPerBlock, p.reservedSharedMemPerBlock},
    };
    const auto found = values.find(attribute);
    if (found == values.end()) return cudaErrorInvalidValue;
    *value = static_cast<int>(found->second);
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    *total = simt::memory;
    *free = simt::memory - std::min(simt::memory, simt::allocated());
    return cudaSuccess;
}
