// Runs blocks on all cores. No block waits for one that begins after it, so each core can run some of them,
// in a process of its own, with its own built-in variables, scheduler and meter, which need no locks.
#pragma once
#include "simt/image.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace simt {

/// True if this system supports Workers.
bool can_share_out();

/// Shares this memory, in whole pages, with all processes started from now on.
void have_in_common(const Range&);

/// Processes, one per core, that run the blocks of a launch. Their changes are lost except in shared memory.
class Workers {
  public:
    /// Calls `work` in each process. Throws kata::Error if one cannot be started.
    explicit Workers(const std::function<void(const Workers&)>& work);
    /// Ends the processes still running.
    ~Workers();
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    /// Returns 0, 1, 2 and so on: each number once among all processes.
    std::uint64_t take() const;
    /// Called for each block that is done.
    void done() const;
    std::uint64_t all_done() const;
    /// Waits for all processes and calls `meanwhile` now and then. Rethrows a kata::Error that one of them
    /// has thrown.
    void wait(const std::function<void()>& meanwhile);

  private:
    struct Process {
        int pid, output;
    };
    void end() noexcept;

    std::vector<Process> processes_;
};

/// Acquires the lock for an address among all processes; returns null if there are no Workers.
void* lock_for(const void* address);
void unlock(void* lock);

}  // namespace simt
