// Runs a grid: a block is a set of fibers on one operating-system thread, its warps take turns, and a thread
// gives up its turn only where it waits. All choices are made by the conditions and their seed.
#pragma once
#include "error.hpp"
#include "simt/block.hpp"
#include "simt/diagnose.hpp"
#include "simt/grid.hpp"
#include "simt/probe.hpp"

#include <atomic>
#include <boost/context/fiber.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace simt {

class Scheduler {
  public:
    /// Shared memory starts filled with `garbage`. Without `blocks` all blocks are run, in the order given by
    /// the conditions.
    Scheduler(const Launch& launch, std::byte garbage, NextBlock blocks);

    void run();

    // Called on the threads' side.

    static boost::context::fiber run_thread(boost::context::fiber&& from);
    [[noreturn]] void stop(const auto& error) {
        fail(error);
        leave();
        __builtin_unreachable();
    }
    std::string which_launch() const { return simt::which_launch(grid_.launch, probe_); }
    void pause() {
        running->paused = true;
        leave();
    }
    /// Returns the seconds after which end_if_stuck() must be called. A thread whose actions are recorded
    /// returns to the scheduler every few hundred steps.
    double looks_after() const {
        constexpr double a_step = 50e-9;  // no step takes less
        return probe_ && !grid_.conditions.time_limit
                   ? a_step * static_cast<double>(grid_.conditions.most_steps)
                   : time_limit_;
    }
    /// Called from time to time: ends a launch whose thread has not returned to the scheduler since the last
    /// call. The scheduler itself ends the others.
    void end_if_stuck() {
        if (std::exchange(resumes_when_asked_, resumes_) == resumes_) stop(still_busy(*running_block));
    }
    void divided_by_zero(const void* code);
    int barrier(int predicate, const char* name, Site site, const void* code);
    std::uint64_t exchange(Collective, unsigned mask, std::uint64_t value, int source, const char* name, Site,
                           const void* code);
    unsigned active_mask(Site, const void* code);
    std::uint32_t arrive(Arrivals&, unsigned count, const char* name, Site, const void* code);
    void await(const Arrivals&, std::uint32_t phase, const char* name, Site, const void* code);
    void before_atomic(const void* address, unsigned bytes, const void* code, AtomicFor, bool replaces);
    void swapped() {
        if (probe_) probe_->swapped();
    }
    void before_atomic_load(const void* address, unsigned bytes, const void* code, AtomicFor whom) {
        poll();
        if (probe_) probe_->atomic_load(address, bytes, code, whom);
    }
    void before_atomic_store(const void* address, unsigned bytes, const void* code, AtomicFor whom) {
        if (probe_) probe_->atomic_store(address, bytes, code, whom);
    }
    void before_read_only(const void* address, unsigned bytes, const void* code) {
        if (probe_) probe_->read_only(address, bytes, code);
    }
    void fence() {
        std::atomic_thread_fence(std::memory_order_seq_cst);  // other processes may run blocks
        if (probe_) probe_->fence(*running_block, *running);
    }
    /// The thread reads the clock: its wait may end by itself.
    void clock_goes_on() { busy_ = true; }
    void poll() {
        if (++running->polls % grid_.conditions.polls_per_turn != 0) return;
        running->polling = true;
        pause();
    }

  private:
    /// Returns the time since the launch began, or the limit if the conditions set one.
    double seconds() const;
    /// Limits the seconds of a launch if the conditions do, or if steps are not counted. Otherwise limits the
    /// steps of a block, which are the same on any machine.
    bool takes_too_long();
    bool is_too_long_for_sample();
    /// Called from time to time: true if threads only poll memory that nothing changes any more. Not certain
    /// if other processes run blocks, too.
    bool waits_in_vain();

    NextBlock all_blocks();
    std::function<std::uint64_t(std::uint64_t)> block_order(std::uint64_t blocks);
    void start(unsigned slot, std::uint64_t linear);
    void place(Block&, std::uint64_t linear) const;
    bool is_held_long_enough();
    void look_again(const Block* done_by = nullptr);
    bool is_latest_first() const { return grid_.conditions.latest_first && !held_back_ && !holds_back_; }
    Block* latest();
    Block* pick();
    void work_on(Block&);
    bool run_warp(Block&, unsigned warp);
    void resume(Block&, Thread&);
    static void give_fiber(Thread&);
    static void keep_fiber(Thread&);
    void enter(Block&);
    void finish(Block&);
    void abandon(Block&);
    bool release_arrived(Block&, unsigned warp);
    bool release_active_mask(Block&, unsigned warp);
    void release_barrier(Block&);
    bool complete_collective(Block&, const Thread& asking);
    void excuse(Block&, const Thread& gone);

    kata::Error still_busy(const Block&) const;
    void end_if_too_long(const Block&);
    /// Ends the launch, unless it has been ended already.
    void fail(const kata::Error&);
    void fail(const std::string& message) { fail(kata::Error(message)); }
    /// Returns to the scheduler; comes back when the thread is resumed.
    void leave() {
        running->left_at = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        scheduler_ = std::move(scheduler_).resume();
    }

    Grid grid_;
    std::byte garbage_;
    NextBlock blocks_;
    Probe* probe_;
    std::mt19937 random_;
    double time_limit_, started_;                 // seconds of processor time
    double progressed_ = 0;                       // when a check first found that a further block had ended
    std::uint64_t ended_ = 0, ended_before_ = 0;  // blocks, now and at that check
    std::uint64_t steps_before_ = 0;              // steps up to the end of the last block
    bool busy_ = false;  // a thread has had a turn without polling since the last look
    std::uint64_t news_ = 0, vain_since_ = 0;
    bool in_vain_ = false;  // the launch has been found to wait in vain
    unsigned resumes_ = 0, resumes_when_asked_ = ~0u;
    boost::context::fiber scheduler_;
    std::vector<std::unique_ptr<Block>> resident_;
    std::unique_ptr<Block> spare_;
    unsigned last_ = 0;
    bool holds_back_ = false;     // the block picked next will be held back
    Block* held_back_ = nullptr;  // held back until all other blocks poll
    unsigned turns_held_ = 0;     // turns that other blocks had meanwhile
    std::uint64_t blocks_started_ = 0;
    bool overtakes_ = false;      // a block other than the first to start has ended
    Block* in_shared_ = nullptr;  // the block whose static shared memory is in place
    std::exception_ptr fault_;    // the fault that ends the launch
};

/// The scheduler that kernels call.
extern Scheduler* scheduler;

/// Makes a scheduler the one that kernels call, while it lives.
class Current {
  public:
    explicit Current(Scheduler& one) { scheduler = &one; }
    ~Current() { scheduler = nullptr; }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;
};

}  // namespace simt
