// The GPU as this back end sees it: whether it can be used, and what its errors mean. Device 0 and its
// default stream.
#pragma once
#include <cuda_runtime_api.h>
#include <string>
#include <string_view>

namespace kata {

/// Throws kata::Error where no GPU can be used: there is none, the driver is too old for the runtime, or an
/// earlier kernel took the GPU from this process. Costs nothing after the first success.
void require_device();

namespace gpu {

/// Throws kata::Error: "`failed`: what CUDA says; `advice`". Where the device has stopped a kernel, that is
/// the cause and is said instead, and the device is lost.
[[noreturn]] void fail(cudaError_t error, std::string_view failed, std::string_view advice = {});

/// What to do about an error of the runtime, where that is known.
std::string remedy(cudaError_t);

/// Fails unless `error` is cudaSuccess.
inline void check(cudaError_t error, std::string_view failed) {
    if (error != cudaSuccess) fail(error, failed);
}

/// Waits until the device has nothing left to do. Throws kata::Error where a kernel was stopped, or still
/// runs after `seconds`; the device is lost then.
void wait(double seconds);

/// Whether the device is of no more use to this process. Calls to it may then fail, or never return.
bool lost();

int attribute(cudaDeviceAttr);

/// "sm_90"
std::string architecture();

}  // namespace gpu

}  // namespace kata
