// Blocks on all cores. No block waits for one that begins after it, so each core can run some of them, in a
// process of its own: the built-in variables of kernels, and what the scheduler and the meter remember, are
// then each process's own, too, and need no lock.
#pragma once
#include "simt/image.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace simt {

/// Whether this system has what Workers need.
bool can_share_out();

/// From now on this memory is one to this process and to all that it starts. To whole pages.
void have_in_common(const Range&);

/// Processes, one for each core, that run the blocks of a launch. What they change is lost with them, except
/// for what they have in common.
class Workers {
  public:
    /// Calls `work` in each process. Throws kata::Error where none can be had.
    explicit Workers(const std::function<void(const Workers&)>& work);
    /// Ends those that are still there.
    ~Workers();
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    /// 0, 1, 2 and so on: each number once, whoever asks.
    std::uint64_t take() const;
    /// To be called for each block that is done.
    void done() const;
    std::uint64_t all_done() const;
    /// Waits for all, and calls `meanwhile` now and then. Throws what one of them has thrown, a kata::Error.
    void wait(const std::function<void()>& meanwhile);

  private:
    struct Process {
        int pid, output;
    };
    void end() noexcept;

    std::vector<Process> processes_;
};

/// Waits until no other process holds the lock for what lies at the address; null where there are no Workers.
void* lock_for(const void* address);
void unlock(void* lock);

}  // namespace simt
