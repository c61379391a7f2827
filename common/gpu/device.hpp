// The state of the GPU and the meaning of its errors. Device 0 and its default stream.
#pragma once
#include <cuda_runtime_api.h>
#include <string>
#include <string_view>

namespace kata {

/// Throws kata::Error if no GPU can be used: there is none, the driver is too old for the runtime, or an
/// earlier kernel has made it unusable for this process. Costs nothing after the first success.
void require_device();

namespace gpu {

/// Throws kata::Error: "`failed`: CUDA's text; `advice`". If the device has stopped a kernel, reports that
/// instead, as the cause, and the device is lost.
[[noreturn]] void fail(cudaError_t error, std::string_view failed, std::string_view advice = {});

/// Returns what to do about an error of the runtime; empty if unknown.
std::string remedy(cudaError_t);

/// Calls fail() unless `error` is cudaSuccess.
inline void check(cudaError_t error, std::string_view failed) {
    if (error != cudaSuccess) fail(error, failed);
}

/// Waits until the device is idle. Throws kata::Error if a kernel was stopped, or still runs after `seconds`;
/// the device is lost then.
void wait(double seconds);

/// True if this process can no longer use the device: calls to it may fail, or never return.
bool lost();

int attribute(cudaDeviceAttr);

/// "sm_90"
std::string architecture();

}  // namespace gpu

}  // namespace kata
