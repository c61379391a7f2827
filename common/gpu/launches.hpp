// What became of the launches of a step. <<<>>> gives nothing back, so they are overheard.
#pragma once
#include <cstdint>
#include <cuda_runtime_api.h>
#include <optional>
#include <string_view>

namespace kata::gpu {

/// A launch that the runtime did not take.
struct Refusal {
    cudaError_t error;
    const void* kernel;  ///< as the runtime was given it: a function of the host, or a cudaKernel_t
    dim3 grid, block;
    std::size_t shared_bytes;
};

struct Launches {
    std::uint64_t taken = 0;
    std::optional<Refusal> refused = {};  ///< the first one
};

/// Since they were last forgotten.
const Launches& launches();
void forget_launches();

/// Throws kata::Error, which says what the launch asked for and which limit that breaks; `where` begins it.
[[noreturn]] void explain(const Refusal&, std::string_view where = {});

}  // namespace kata::gpu
