// The results of a step's launches, intercepted because <<<>>> returns nothing.
#pragma once
#include <cstdint>
#include <cuda_runtime_api.h>
#include <optional>
#include <string_view>

namespace kata::gpu {

/// A launch that the runtime has refused.
struct Refusal {
    cudaError_t error;
    const void* kernel;  ///< as passed to the runtime: a host function or a cudaKernel_t
    dim3 grid, block;
    std::size_t shared_bytes;
};

struct Launches {
    std::uint64_t taken = 0;
    std::optional<Refusal> refused = {};  ///< the first one
};

/// Returns the launches since forget_launches().
const Launches& launches();
void forget_launches();

/// Throws kata::Error with the configuration of the launch and the limit that it breaks, after `where`.
[[noreturn]] void explain(const Refusal&, std::string_view where = {});

}  // namespace kata::gpu
