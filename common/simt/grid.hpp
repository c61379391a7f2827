// A launch, and the limits that it must keep.
#pragma once
#include "limits.hpp"
#include "observe.hpp"
#include "simt/image.hpp"
#include "simt/runtime.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace simt {

/// The limits of compute capability 9.0.
inline constexpr const char* architecture = "sm_90";
inline constexpr kata::Limits limits{
    1024, {1024, 1024, 64}, {2147483647, 65535, 65535}, 48 * 1024, kata::counted_shared_memory};

struct Grid {
    Launch launch;
    Image image;
    dim3 block_dim, grid_dim;
    kata::Conditions conditions;
    std::size_t shared_limit = limits.unasked;  // shared memory that a block may use
};

inline std::uint64_t blocks_of(const Launch& launch) {
    return static_cast<std::uint64_t>(launch.grid.x) * launch.grid.y * launch.grid.z;
}
inline std::uint64_t threads_of(const Launch& launch) {
    return blocks_of(launch) * launch.block.x * launch.block.y * launch.block.z;
}

/// Returns the linear index of the next block to run, as long as there is one.
using NextBlock = std::function<std::optional<std::uint64_t>()>;

/// Throws kata::Error for a launch that no device takes. Sets the grid's shared_limit.
void admit(Grid&);

}  // namespace simt
