// What the warps of a launch do, one instruction after the other, for whoever explains or draws it.
#pragma once
#include "counts.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace kata {

/// An array in the memory of the device, as the source or the harness calls it.
struct Array {
    std::string name;
    std::uintptr_t begin = 0;
    std::uint64_t bytes = 0;
};

/// A warp enters a basic block, or executes one instruction that reaches memory: lanes that do so together.
struct Request {
    std::uint32_t code = 0;    ///< tells instructions apart
    const char* did = "runs";  ///< enters a basic block; or "load", "store", "atomic"
    const char* memory = "";   ///< "global", "shared" or "constant"
    std::uint64_t block = 0;   ///< the block's linear index in its grid
    unsigned warp = 0;         ///< of the block
    unsigned barriers = 0;     ///< that the block has passed before
    /// When, in steps of the span: along the warp, and at a barrier as late as the latest warp.
    std::uint64_t begins = 0, ends = 0;
    std::uint64_t steps = 0;                     ///< as in Counts::work
    unsigned bytes = 0;                          ///< that each lane asks for
    std::uint32_t lanes = 0;                     ///< a bit for each active one
    std::array<std::uintptr_t, 32> addresses{};  ///< of the active lanes
    Counts counts = {};                          ///< what it adds to those of its launch; not the steps
};

/// A launch, for as long as it runs; the lines are known afterwards, too.
struct Scene {
    std::array<unsigned, 3> grid{}, block{};
    /// What lies at an address that a request names; what its threads see where an array is of each block.
    std::function<Array(std::uintptr_t)> array_at;
    /// "03_tiled.cu:27" for the code of each request.
    std::function<std::vector<std::string>(std::span<const std::uint32_t> codes)> lines_of;
    /// The text of "03_tiled.cu", once a line of it has been named; nothing where it cannot be read.
    std::function<std::string(const std::string& file)> text_of;
};

class Watcher {
  public:
    virtual ~Watcher() = default;
    virtual void launch_begins(const Scene&) = 0;
    virtual void request(const Request&) = 0;
    /// Of a launch of which a sample of the blocks is run, before each further one: whether those so far say
    /// what the others would.
    virtual bool has_enough() { return false; }
    /// Of such a launch: whether to see the first block and the last, too, which follow then as far as they
    /// are not of the sample.
    virtual bool sample_ends() { return false; }
};

/// Who watches what kernels do; nobody, unless somebody is set. Only what is counted is seen, so that on a
/// GPU nothing is.
inline Watcher* watcher = nullptr;

}  // namespace kata
