// The limits of a launch, and the messages for a launch that exceeds them: the same on both back ends.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace kata {

/// The extent of a grid in blocks, or of a block in threads.
struct Extent {
    unsigned x = 1, y = 1, z = 1;

    std::uint64_t volume() const { return std::uint64_t{x} * y * z; }
    bool fits(const Extent& most) const { return x <= most.x && y <= most.y && z <= most.z; }
    /// Returns it with x and y exchanged.
    Extent turned() const { return {y, x, z}; }
    std::string text() const {
        return "(" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
    }
};

struct Limits {
    unsigned threads;     ///< threads of a block
    Extent block, grid;   ///< along each axis
    std::size_t unasked;  ///< bytes of shared memory that a block has by default
    std::size_t shared;   ///< the most that cudaFuncSetAttribute can request
};

/// Shared memory of a block on the GPU that the CPU back end models, of compute capability 9.0.
inline constexpr std::size_t counted_shared_memory = 227 * 1024;

/// The configuration of a launch, and what is known about the kernel.
struct Configuration {
    Extent grid, block;
    std::size_t dynamic_shared = 0;
    std::size_t static_shared = 0;  ///< the kernel's __shared__ variables
    std::size_t asked = 0;          ///< dynamic shared memory allowed to it by cudaFuncSetAttribute

    /// Returns "launch refused: grid (1, 1, 1), block (2048, 1, 1) = 2048 threads, 0 bytes of dynamic shared
    /// memory".
    std::string refused() const {
        return "launch refused: grid " + grid.text() + ", block " + block.text() + " = " +
               std::to_string(block.volume()) + " threads, " + std::to_string(dynamic_shared) +
               " bytes of dynamic shared memory";
    }
};

/// Returns the first limit that the launch exceeds, and what to do about it; empty if it exceeds none.
inline std::string excess(const Configuration& c, const Limits& most) {
    if (c.grid.volume() == 0)
        return "the grid has no blocks: if there is nothing to do, launch nothing; if there is less than one "
               "block can do, round up, as ceil_div(n, threads) does";
    if (c.block.volume() == 0) return "a block needs at least one thread in x, y and z";
    if (c.block.volume() > most.threads)
        return "a block has room for " + std::to_string(most.threads) + " threads";
    if (!c.block.fits(most.block)) return "a block may have " + most.block.text() + " threads at most";
    if (!c.grid.fits(most.grid))
        return "a grid may have " + most.grid.text() +
               " blocks at most: use x, which has the highest limit, or let threads loop" +
               (c.grid.turned().fits(most.grid) ? "; with x and y exchanged it would fit: are they exchanged?"
                                                : "");
    const auto shared = c.static_shared + c.dynamic_shared;
    if (shared > most.shared)
        return "a block has room for " + std::to_string(most.shared) + " bytes of shared memory, and " +
               std::to_string(c.static_shared) + " of them are this kernel's __shared__ variables";
    if (shared > most.unasked && c.dynamic_shared > c.asked)
        return "a block gets " + std::to_string(most.unasked) +
               " bytes of shared memory, and more only if cudaFuncSetAttribute(kernel, "
               "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) is called before the launch; each "
               "instance of a template is a kernel of its own";
    return "";
}

}  // namespace kata
