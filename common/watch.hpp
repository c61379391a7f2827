// The actions of the warps of a launch, one instruction at a time, for code that explains or draws them.
#pragma once
#include "counts.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace kata {

/// An array in device memory, named by the source or the harness.
struct Array {
    std::string name;
    std::uintptr_t begin = 0;
    std::uint64_t bytes = 0;
};

/// A warp enters a basic block, or executes one instruction that accesses memory: the lanes that do so
/// together.
struct Request {
    std::uint32_t code = 0;    ///< identifies the instruction
    const char* did = "runs";  ///< "runs" for entering a basic block; or "load", "store", "atomic"
    const char* memory = "";   ///< "global", "shared" or "constant"
    std::uint64_t block = 0;   ///< the block's linear index in its grid
    unsigned warp = 0;         ///< its index in the block
    unsigned barriers = 0;     ///< passed by the block before
    /// The time in steps of the span, along the warp. A barrier ends when the latest warp reaches it.
    std::uint64_t begins = 0, ends = 0;
    std::uint64_t steps = 0;                     ///< as in Counts::work
    unsigned bytes = 0;                          ///< bytes that each lane requests
    std::uint32_t lanes = 0;                     ///< a bit for each active lane
    std::array<std::uintptr_t, 32> addresses{};  ///< addresses that the active lanes access
    Counts counts = {};                          ///< part of the launch's counts, without the steps
};

/// A launch while it runs. Its lines can still be looked up afterwards.
struct Scene {
    std::array<unsigned, 3> grid{}, block{};
    /// Returns the array at an address of a request: if each block has its own, the one of the requesting
    /// block.
    std::function<Array(std::uintptr_t)> array_at;
    /// Returns the lines of the codes of requests: "03_tiled.cu:27".
    std::function<std::vector<std::string>(std::span<const std::uint32_t> codes)> lines_of;
    /// Returns the text of "03_tiled.cu" once a line of it has been named; empty if it cannot be read.
    std::function<std::string(const std::string& file)> text_of;
};

/// The requests, and their fields, that a watcher uses. The others may be missing, which saves the time to
/// send them from the process of a step.
struct Interest {
    bool blocks = true;  ///< requests for entering a basic block
    bool addresses = true, counts = true;
};

class Watcher {
  public:
    virtual ~Watcher() = default;
    virtual Interest interest() const { return {}; }
    virtual void launch_begins(const Scene&) = 0;
    virtual void request(const Request&) = 0;
    /// Called before each further block of a sampled launch. True if the blocks so far represent the others.
    virtual bool has_enough() { return false; }
    /// True if the watcher also wants the first and the last block of such a launch, which then follow unless
    /// they are in the sample.
    virtual bool sample_ends() { return false; }
};

/// The current watcher of kernels; null if there is none. Sees only what is counted, so nothing on a GPU.
inline Watcher* watcher = nullptr;

/// Makes a watcher the current one for a while.
class WatchedBy {
  public:
    explicit WatchedBy(Watcher& by) { watcher = &by; }
    ~WatchedBy() { watcher = nullptr; }
    WatchedBy(const WatchedBy&) = delete;
    WatchedBy& operator=(const WatchedBy&) = delete;
};

}  // namespace kata
