// Runs a grid: a block is a set of fibers on one operating-system thread, its warps take turns, and a thread
// gives up its turn only where it waits. Nothing is left to chance but what a printed seed decides.
#include "simt/scheduler.hpp"

#include "buffer.hpp"
#include "error.hpp"
#include "simt/admit.hpp"
#include "simt/diagnose.hpp"
#include "simt/division.hpp"
#include "simt/image.hpp"
#include "simt/matrices.hpp"
#include "simt/order.hpp"
#include "simt/runtime.hpp"
#include "simt/search.hpp"
#include "simt/snapshot.hpp"
#include "simt/stacks.hpp"
#include "simt/watchdog.hpp"
#include "simt/workers.hpp"
#include "stopwatch.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <csetjmp>
#include <cstring>
#include <ctime>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;
extern "C" {
std::byte* simt_dynamic_shared;  // what kernels see as `extern __shared__`, by whatever name
}

namespace simt {

Thread* running = nullptr;
Block* running_block = nullptr;

namespace {

namespace context = boost::context;

// As cuda.hpp has it.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool can_move_shared = false;
#else
constexpr bool can_move_shared = true;
#endif

/// How long a launch may take if nothing else is said and nothing is counted, in seconds of processor time.
constexpr double patience = 20;
/// After so many turns a block is taken for one that polls.
constexpr unsigned turns_of_each = 100;
/// And after so many in which it polls others have theirs, where the latest comes first.
constexpr unsigned turns_to_look = 4;
/// Of the most steps that a block may take, the part that it may take to poll what nobody is left to change,
/// and the part that it may take in a sample.
constexpr std::uint64_t part_in_vain = 10, part_in_sample = 2;

std::uint64_t blocks_of(const Launch& launch) {
    return static_cast<std::uint64_t>(launch.grid.x) * launch.grid.y * launch.grid.z;
}

/// Of a launch of more blocks or threads only some are run, where Conditions::only_ends asks for it.
constexpr std::uint64_t most_blocks_run_whole = 1 << 14, most_threads_run_whole = 1 << 22, blocks_at_ends = 4;

std::uint64_t threads_of(const Launch& launch) {
    return blocks_of(launch) * launch.block.x * launch.block.y * launch.block.z;
}

/// What the launches of one observation share.
struct Session {
    kata::Conditions conditions;
    std::uint64_t launches = 0;
    std::map<std::uint64_t, std::uint64_t> states = {};  // of device memory behind each launch
    std::vector<std::string> idle = {}, spilled = {}, launched = {}, hints = {};
    bool in_part = false, fragments = false;
    // Of a step of which blocks are left out: one that counts them would begin the next launch in the middle.
    Changes changes = {};
    kata::Observation::Next next = {};
    std::uint64_t blocks_promised = 1;  // of this launch's kernel, to be on a multiprocessor at a time
};
Session* session = nullptr;

bool is_run_in_part(const Launch& launch) {
    return session->conditions.only_ends &&
           (blocks_of(launch) > most_blocks_run_whole || threads_of(launch) > most_threads_run_whole ||
            (session->conditions.even_of_few && blocks_of(launch) > blocks_at_ends));
}

/// Of more threads a search does not come to its end in time, and is for the blocks at the ends of the grid:
/// of so many threads.
constexpr std::uint64_t most_threads_searched = std::uint64_t{1} << 30,
                        threads_searched_at_ends = std::uint64_t{1} << 27;

std::uint64_t blocks_searched(const Launch& launch) {
    const auto blocks = blocks_of(launch), threads = threads_of(launch);
    return threads <= most_threads_searched ? blocks : threads_searched_at_ends / (threads / blocks);
}

std::string ordinal(std::uint64_t n) {
    const bool teen = n / 10 % 10 == 1;
    return std::to_string(n) + (teen          ? "th"
                                : n % 10 == 1 ? "st"
                                : n % 10 == 2 ? "nd"
                                : n % 10 == 3 ? "rd"
                                              : "th");
}

/// "sum<<<1, 1024>>>"
std::string as_written(const Launch& launch) {
    const auto extent = [](dim3 d) { return d.y == 1 && d.z == 1 ? std::to_string(d.x) : text_of(uint3(d)); };
    return launch.name + ("<<<" + extent(launch.grid) + ", " + extent(launch.block) + ">>>");
}

/// Which of several launches it is, and what it was asked for: "sum<<<1, 1024>>> with n = 5". Nothing of an
/// only one.
std::string among_launches(const Launch& launch, const Probe* probe) {
    if (!session || session->launches < 2) return "";
    const auto names = probe ? probe->parameters() : std::vector<std::string>{};
    std::string numbers;
    for (std::size_t i = 0; i < std::min(names.size(), launch.parameters); ++i)
        if (launch.numbers[i])
            numbers +=
                (numbers.empty() ? " with " : ", ") + names[i] + " = " + std::to_string(*launch.numbers[i]);
    return "\n  in the " + ordinal(session->launches) + " launch, in " + text_of(launch.site) + ": " +
           as_written(launch) + numbers;
}

/// Of a launch of a block for each of as many elements as an argument says: that the number of threads may
/// have been taken for the number of blocks. Else nothing.
std::string blocks_for_threads(const Launch& launch, const Probe* probe) {
    constexpr long long many = 1024;
    const auto threads = uint3(launch.block);
    const auto of_block = std::uint64_t{threads.x} * threads.y * threads.z;
    const auto names = probe ? probe->parameters() : std::vector<std::string>{};
    for (std::size_t i = 0; i < std::min(names.size(), launch.parameters); ++i)
        if (const auto& n = launch.numbers[i];
            n && *n >= many && of_block > 1 && blocks_of(launch) == static_cast<std::uint64_t>(*n))
            return "\n  " + as_written(launch) + " has " + std::to_string(of_block) +
                   " times as many threads as " + names[i] + " = " + std::to_string(*n) +
                   " says: in front of the comma of <<< stands how many blocks there are, not how many "
                   "threads";
    return "";
}

/// With which it is said that there is no more.
std::unique_ptr<std::byte[]> spare_memory;

/// What ticks() has given last.
long long last_tick = 0;

class Scheduler {
  public:
    /// The next block that is to be run, by its linear index, as long as there is one.
    using Blocks = std::function<std::optional<std::uint64_t>()>;

    /// `garbage` is what shared memory starts with. Without `blocks` all are run, in the order that the
    /// conditions ask for.
    Scheduler(const Launch& launch, std::byte garbage, Blocks blocks)
        : grid_{launch, image_of(launch.code), launch.block, launch.grid, session->conditions},
          garbage_(garbage),
          blocks_(std::move(blocks)),
          probe_(listener()),
          random_(grid_.conditions.seed),
          time_limit_(grid_.conditions.time_limit.value_or(patience)),
          started_(processor_seconds()) {}
    const Grid& grid() const { return grid_; }

    void run() {
        admit(grid_);
        ::blockDim = grid_.block_dim;
        ::gridDim = grid_.grid_dim;
        if (probe_) {
            probe_->launch_begins(grid_);
            steps_before_ = vain_since_ = probe_->steps();
        }
        if (!blocks_) blocks_ = all_blocks();
        // Several blocks at a time where their shared memory can be kept apart and the order is to be mixed.
        // The meter has room for two.
        const bool mixed = grid_.conditions.order == kata::Order::shuffled;
        const auto& b = grid_.block_dim;
        const unsigned most = probe_ ? 2 : StackPool::most_threads / (b.x * b.y * b.z);
        const unsigned several = std::min(grid_.conditions.resident, most);
        const unsigned places = mixed && can_move_shared && !grid_.image.path.empty() ? several : 1;
        resident_.resize(places);
        holds_back_ = grid_.conditions.first_held_back && places > 1;
        try {
            while (!fault_) {
                for (unsigned slot = 0; slot < places; ++slot)
                    if (!resident_[slot])
                        if (const auto next = blocks_()) start(slot, *next);
                Block* block = pick();
                if (!block) break;
                work_on(*block);
            }
        } catch (const std::bad_alloc&) {  // not in a thread, of which none is running any more
            running = nullptr;
            fail(kata::out_of_memory);
        }
        for (auto& block : resident_)
            if (block) abandon(*block);
        if (fault_) stack_pool().forget_frames();
        running_block = nullptr;
        if (probe_) probe_->launch_ends();
        if (fault_) std::rethrow_exception(fault_);
    }

    /// Calls the kernel for threads of the blocks, those that the conditions ask for. A thread that would
    /// have to wait for others, or breaks a rule, does not come back. What they leave in memory is worth
    /// nothing.
    void search(const SearchedBlocks& blocks);

    // Called on the threads' side.

    static context::fiber run_thread(context::fiber&& from);
    [[noreturn]] void stop(const std::string& message) {
        fail(message);
        leave();
        __builtin_unreachable();
    }
    std::string which_launch() const { return among_launches(grid_.launch, probe_); }
    void pause() {
        running->paused = true;
        leave();
    }
    /// When to begin to look whether a thread comes back: one that is listened to does so every few hundred
    /// steps.
    double looks_after() const {
        constexpr double a_step = 50e-9;  // at least: before so many can have been taken there is no hurry
        return probe_ && !grid_.conditions.time_limit
                   ? a_step * static_cast<double>(grid_.conditions.most_steps)
                   : time_limit_;
    }
    /// To be called from time to time then: ends a launch whose thread has not come back to
    /// the scheduler since the last call, for one that does will be told there.
    void end_if_stuck() {
        if (std::exchange(resumes_when_asked_, resumes_) == resumes_) stop(still_busy(*running_block));
    }
    void divided_by_zero(const void* code) {
        const std::string line = probe_ && code ? probe_->line(code) : "";
        stop("an integer is divided by zero" + (line.empty() ? "" : " in " + line) + ", by " +
             name_of(running->index, running_block->index) + ": a GPU goes on with some number");
    }
    int barrier(int predicate, const char* name, Site site, const void* code);
    std::uint64_t exchange(Collective, unsigned mask, std::uint64_t value, int source, const char* name, Site,
                           const void* code);
    unsigned active_mask(Site, const void* code);
    void before_atomic(const void* address, unsigned bytes, const void* code, AtomicFor);
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
    /// Time passes, which ends some waits.
    void clock_goes_on() { busy_ = true; }
    void poll() {
        if (++running->polls % grid_.conditions.polls_per_turn != 0) return;
        running->polling = true;
        pause();
    }

  private:
    static double processor_seconds() {
        timespec t;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
    }

    /// Since the launch began: as the conditions say it, where they do.
    double seconds() const {
        return grid_.conditions.time_limit ? time_limit_
                                           : std::round(10 * (processor_seconds() - started_)) / 10;
    }
    /// Where steps are counted and nobody said how many seconds a launch may take, a slow machine has as many
    /// of them as a fast one, for each block.
    bool takes_too_long() {
        if (!probe_ || grid_.conditions.time_limit) return processor_seconds() - started_ > time_limit_;
        return probe_->steps() - steps_before_ > grid_.conditions.most_steps || waits_in_vain();
    }
    /// The same where a few blocks stand for all.
    bool is_too_long_for_sample() {
        return probe_ && grid_.conditions.sample &&
               probe_->steps() - steps_before_ > grid_.conditions.most_steps / part_in_sample;
    }
    /// To be called from time to time. Blocks that are in other processes may end a wait, too.
    bool waits_in_vain() {
        const auto news = probe_->news(), steps = probe_->steps();
        if (std::exchange(busy_, false) || std::exchange(news_, news) != news) vain_since_ = steps;
        return grid_.conditions.one_in == 1 &&
               steps - vain_since_ > grid_.conditions.most_steps / part_in_vain;
    }

    Blocks all_blocks();
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
    void enter(Block&);
    void leave_shared(Block&);
    void finish(Block&);
    void abandon(Block&);
    bool release_active_mask(Block&, unsigned warp);
    void release_barrier(Block&);
    bool complete_collective(Block&, const Thread& asking);
    void excuse(Block&, const Thread& gone);

    /// Ends the launch, unless something has ended it already.
    std::string still_busy(const Block& block) const {
        return spinning(block, seconds(), probe_) + blocks_for_threads(grid_.launch, probe_);
    }
    void fail(const std::string& message) {
        if (!fault_)
            fault_ = std::make_exception_ptr(kata::Error(message + among_launches(grid_.launch, probe_)));
    }
    /// Back to the scheduler; returns when the thread is resumed.
    void leave() {
        if (searching_) std::longjmp(out_of_kernel_, 1);
        running->left_at = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        scheduler_ = std::move(scheduler_).resume();
    }
    /// Thousands of stacks do not fit into a cache: what the next threads need is on its way while this one
    /// runs.
    static void fetch(const Thread& next, const Thread& after_it) {
        for (const auto at : {next.left_at - 128, next.left_at - 64, next.left_at, next.left_at + 64})
            __builtin_prefetch(reinterpret_cast<const void*>(at));
        __builtin_prefetch(&after_it);
        __builtin_prefetch(&after_it.waits_in);
    }

    Grid grid_;
    std::byte garbage_;
    Blocks blocks_;
    Probe* probe_;
    std::mt19937 random_;
    double time_limit_, started_;     // seconds of processor time
    std::uint64_t steps_before_ = 0;  // what had been done when the last block ended
    bool busy_ = false;               // of late, a thread has had a turn without polling
    std::uint64_t news_ = 0, vain_since_ = 0;
    unsigned resumes_ = 0, resumes_when_asked_ = ~0u;
    context::fiber scheduler_;
    std::vector<std::unique_ptr<Block>> resident_;
    std::unique_ptr<Block> spare_;
    unsigned last_ = 0;
    bool holds_back_ = false;     // the block that is picked next
    Block* held_back_ = nullptr;  // until all others poll
    unsigned turns_held_ = 0;     // that others have had meanwhile
    std::uint64_t blocks_started_ = 0;
    bool overtakes_ = false;      // one has been done that was not the first to start
    Block* in_shared_ = nullptr;  // whose static shared memory is in place
    std::exception_ptr fault_;    // what ends the launch
    bool searching_ = false;
    std::jmp_buf out_of_kernel_;
    std::size_t searched_ = 0;  // threads of the block; a local variable would not outlive a jump
};

Scheduler* scheduler = nullptr;

Scheduler::Blocks Scheduler::all_blocks() {
    const auto blocks = blocks_of(grid_.launch);
    const auto run = is_run_in_part(grid_.launch) ? blocks_at_ends : blocks;
    return [this, run, order = block_order(blocks), next = std::uint64_t{0}]() mutable {
        if (grid_.conditions.progress && run > 0)
            grid_.conditions.progress(static_cast<double>(next) / static_cast<double>(run));
        return next < run ? std::optional(order(next++)) : std::nullopt;
    };
}

std::function<std::uint64_t(std::uint64_t)> Scheduler::block_order(std::uint64_t blocks) {
    if (is_run_in_part(grid_.launch))
        return [blocks](std::uint64_t i) { return i < 2 ? i : blocks - blocks_at_ends + i; };
    switch (grid_.conditions.order) {
        case kata::Order::forwards:
            return [](std::uint64_t i) { return i; };
        case kata::Order::backwards:
            return [blocks](std::uint64_t i) { return blocks - 1 - i; };
        case kata::Order::shuffled:
            break;
    }
    auto order = std::make_shared<std::vector<std::uint64_t>>(blocks);
    std::iota(order->begin(), order->end(), std::uint64_t{0});
    std::shuffle(order->begin(), order->end(), random_);
    return [order](std::uint64_t i) { return (*order)[i]; };
}

void Scheduler::search(const SearchedBlocks& blocks) {
    ::blockDim = grid_.block_dim;
    ::gridDim = grid_.grid_dim;
    searching_ = true;
    const bool all = grid_.conditions.search == kata::Search::all_threads;
    resident_.resize(1);
    start(0, 0);
    auto& block = *resident_[0];
    enter(block);
    while (const auto linear = blocks()) {
        place(block, *linear);
        ::blockIdx = block.index;
        block.in_warps.assign(block.warps(), {});
        searched_ = 0;
        if (setjmp(out_of_kernel_) != 0) running->state = State::done;  // who leaves the kernel comes by here
        while (searched_ < block.threads.size()) {
            auto& thread = block.threads[searched_++];
            if (!all && thread.warp() > 0 && thread.lane() > 0) continue;
            ::threadIdx = thread.index;
            running = &thread;
            thread.state = State::ready;
            thread.polls = thread.in_toolkit = 0;
            thread.copies.under_way.clear();
            block.arrived = 0;
            grid_.launch.call(grid_.launch.arguments);
            thread.state = State::done;
        }
        running = nullptr;
        fault_ = nullptr;
    }
}

/// Says which block of the grid it is.
void Scheduler::place(Block& block, std::uint64_t linear) const {
    const auto& g = grid_.grid_dim;
    block.linear = linear;
    block.index = {static_cast<unsigned>(linear % g.x), static_cast<unsigned>(linear / g.x % g.y),
                   static_cast<unsigned>(linear / g.x / g.y)};
}

void Scheduler::start(unsigned slot, std::uint64_t linear) {
    resident_[slot] = spare_ ? std::move(spare_) : std::make_unique<Block>();
    auto& block = *resident_[slot];
    const auto& b = grid_.block_dim;
    const unsigned threads = b.x * b.y * b.z;
    block.slot = slot;
    place(block, linear);
    block.threads.resize(threads);
    block.alive = threads;
    block.arrived = block.barriers = 0;
    block.started = block.polls = false;
    block.number = block.turns = 0;
    for (unsigned i = 0; i < threads; ++i) {
        auto& t = block.threads[i];
        t.state = State::fresh;
        t.paused = false;
        t.site = {};
        t.linear = i;
        t.index = {i % b.x, i / b.x % b.y, i / b.x / b.y};
        t.polls = t.busy_turns = 0;
        t.updated = nullptr;
        t.changes = false;
        t.in_toolkit = 0;
        t.passed_by = 0;
        t.copies.under_way.clear();
        t.copies.groups = 0;
    }
    block.in_warps.assign(block.warps(), {});
    block.warp_order.resize(block.warps());
    block.lane_order.resize(32);
    std::iota(block.warp_order.begin(), block.warp_order.end(), 0u);
    std::iota(block.lane_order.begin(), block.lane_order.end(), 0u);
    if (grid_.conditions.order == kata::Order::backwards) {
        std::reverse(block.warp_order.begin(), block.warp_order.end());
        std::reverse(block.lane_order.begin(), block.lane_order.end());
    } else if (grid_.conditions.order == kata::Order::shuffled) {
        std::shuffle(block.warp_order.begin(), block.warp_order.end(), random_);
        std::shuffle(block.lane_order.begin(), block.lane_order.end(), random_);
    }
    block.dynamic.reserve(1);  // an address to report, should a kernel use what its launch did not ask for
    block.dynamic.assign(grid_.launch.shared_bytes, garbage_);  // shared memory starts as garbage
    block.saved.assign(grid_.image.shared.size(), garbage_);
    if (probe_) probe_->block_begins(block);
}

/// Those that poll are to look at what has been done, but for whoever did it.
void Scheduler::look_again(const Block* done_by) {
    for (const auto& other : resident_)
        if (other && other.get() != done_by) other->polls = false, other->turns = 0;
}

/// Whether all others poll. Those that come to barriers between polls are not seen to: for them the wait ends
/// after so many turns.
bool Scheduler::is_held_long_enough() {
    return ++turns_held_ > turns_of_each * resident_.size() ||
           std::all_of(resident_.begin(), resident_.end(), [&](const auto& block) {
               return !block || block.get() == held_back_ || block->polls;
           });
}

/// Of the resident blocks that do not poll the one that started last, or is to start; of all where all poll.
Block* Scheduler::latest() {
    const auto latest_of_busy = [&] {
        Block* found = nullptr;
        for (const auto& block : resident_)
            // 0 becomes the largest number: who has not started starts.
            if (block && block.get() != held_back_ && !block->polls &&
                (!found || block->number - 1 > found->number - 1))
                found = block.get();
        return found;
    };
    if (auto* const busy = latest_of_busy()) return busy;
    look_again();
    return latest_of_busy();
}

/// The resident block whose turn it is: of two the other one, of more than two any, and the one that is held
/// back when it has been long enough.
Block* Scheduler::pick() {
    const auto places = static_cast<unsigned>(resident_.size());
    if (held_back_ && is_held_long_enough()) return std::exchange(held_back_, nullptr);
    if (is_latest_first()) return latest();
    if (places > 2) last_ = static_cast<unsigned>(random_()) % places;
    for (unsigned k = 1; k <= places; ++k)
        if (auto& block = resident_[(last_ + k) % places]; block && block.get() != held_back_) {
            last_ = block->slot;
            if (std::exchange(holds_back_, false)) held_back_ = block.get();
            return block.get();
        }
    return nullptr;
}

/// Puts the block's static shared memory and built-in variables in place.
void Scheduler::enter(Block& block) {
    running_block = &block;
    ::blockIdx = block.index;
    simt_dynamic_shared = block.dynamic.data();
    if (in_shared_ == &block && block.started) return;
    auto* shared = reinterpret_cast<std::byte*>(grid_.image.shared.begin);
    if (in_shared_ && in_shared_ != &block)
        std::memcpy(in_shared_->saved.data(), shared, in_shared_->saved.size());
    if (shared) std::memcpy(shared, block.saved.data(), block.saved.size());
    in_shared_ = &block;
    if (!std::exchange(block.started, true)) block.number = ++blocks_started_;
}

/// Runs the block until it is done, cannot go on alone, or has had its turn.
void Scheduler::work_on(Block& block) {
    enter(block);
    ++block.turns;
    const bool alone = std::none_of(resident_.begin(), resident_.end(),
                                    [&](const auto& other) { return other && other.get() != &block; });
    for (;;) {
        bool progress = false;
        unsigned polls = 0;
        for (const auto warp : block.warp_order) {
            progress = run_warp(block, warp) || progress;
            if (fault_) return;
        }
        if (block.alive == 0) return finish(block);
        for (auto& t : block.threads)
            if (t.state == State::ready) polls = std::max(polls, t.polls);
        const bool polled = std::exchange(block.polls, polls >= polls_per_turn);
        if (held_back_ && !(polled && block.polls)) look_again(&block);
        // Who comes to barriers between its polls is not seen to poll, and who polls may be about to see
        // something.
        if (is_latest_first()) block.polls = block.turns % (block.polls ? turns_to_look : turns_of_each) == 0;
        if (!progress) {
            fail(why_stuck(block, probe_));
            return;
        }
        if (takes_too_long()) {
            fail(still_busy(block));
            return;
        }
        if (alone) continue;
        if (&block == held_back_ ? block.polls || block.barriers > 0
                                 : polls >= grid_.conditions.polls_per_turn || random_() % 4 == 0)
            return;
    }
}

/// Gives every lane of the warp its turns until none can go on. Whether any did.
bool Scheduler::run_warp(Block& block, unsigned warp) {
    const unsigned first = warp * 32, lanes = block.lanes(warp);
    bool any = false, again = true;
    while (again) {
        again = false;
        for (unsigned i = 0; i < 32; ++i) {
            const auto lane = block.lane_order[i];
            if (lane >= lanes) continue;
            auto& t = block.threads[first + lane];
            if (!t.can_go_on() || t.paused || (probe_ && !probe_->takes_turn(t))) continue;
            const auto following = [&](unsigned by) -> const Thread& {
                return block.threads[first + std::min(block.lane_order[(i + by) % 32], lanes - 1)];
            };
            fetch(following(1), following(2));
            resume(block, t);
            any = again = true;
            if (fault_) return true;
        }
        if (!again) again = release_active_mask(block, warp);
    }
    if (any && probe_) probe_->warp_stops(block, warp);
    for (unsigned l = 0; l < lanes; ++l) {
        any = any || block.threads[first + l].paused;
        block.threads[first + l].paused = false;
    }
    return any;
}

/// Fibers whose threads have left the kernel, and their stacks. Making one and ending it is more than many a
/// thread has to do itself, so they stay, for any launch.
std::vector<std::pair<context::fiber, std::byte*>>& idle_fibers() {
    static auto& fibers = *new std::vector<std::pair<context::fiber, std::byte*>>;
    return fibers;
}

std::pair<context::fiber, std::byte*> fiber_to_run_in() {
    auto& idle = idle_fibers();
    if (!idle.empty()) {
        auto fiber = std::move(idle.back());
        idle.pop_back();
        return fiber;
    }
    auto* const stack = stack_pool().take();
    return {context::fiber(std::allocator_arg, PooledStack{stack},
                           [](context::fiber&& from) {
                               for (;;) from = Scheduler::run_thread(std::move(from));
                               return std::move(from);
                           }),
            stack};
}

/// Runs the kernel for the running thread, of the current launch, and gives way. Returns when there is
/// another thread for this fiber.
context::fiber Scheduler::run_thread(context::fiber&& from) {
    scheduler->scheduler_ = std::move(from);
    try {
        const auto& launch = scheduler->grid_.launch;
        launch.call(launch.arguments);
    } catch (const kata::OpenKata&) {
        scheduler->fault_ = std::current_exception();
    } catch (const std::exception& e) {
        scheduler->fail(std::string("the kernel threw: ") + e.what());
    }
    running->state = State::done;
    return std::move(scheduler->scheduler_).resume();
}

void Scheduler::resume(Block& block, Thread& t) {
    ::threadIdx = t.index;
    running = &t;
    t.polling = false;
    if (t.state == State::fresh) {
        t.state = State::ready;
        std::tie(t.fiber, t.stack) = fiber_to_run_in();
    }
    const auto polls = t.polls;
    t.fiber = std::move(t.fiber).resume();
    running = nullptr;
    busy_ = busy_ || t.state != State::ready || t.polls == polls;
    t.busy_turns = t.state == State::ready && t.polls == polls ? t.busy_turns + 1 : 0;
    if (t.state == State::done) {
        --block.alive;
        idle_fibers().emplace_back(std::move(t.fiber), std::exchange(t.stack, nullptr));
        excuse(block, t);
    }
    if (++resumes_ % 1024 != 0) return;
    if (is_too_long_for_sample())
        fail("it takes too long at full size: block " + text_of(block.index) + " alone is not done after " +
             std::to_string(grid_.conditions.most_steps / part_in_sample / 1'000'000) +
             " million steps of its threads, as if few threads did the work of all");
    else if (takes_too_long())
        fail(still_busy(block));
}

void Scheduler::finish(Block& block) {
    if (probe_) {
        probe_->block_ends(block);
        steps_before_ = probe_->steps();
    }
    in_shared_ = nullptr;
    if (&block == held_back_) held_back_ = nullptr;
    if (is_latest_first()) {
        look_again(&block);
        if (block.number > 1 && !std::exchange(overtakes_, true))
            for (const auto& other : resident_)
                if (other && other.get() != &block && other->number > 1)
                    ++(other->number < block.number ? session->next.overtaken : session->next.not_overtaken);
    }
    spare_ = std::move(resident_[block.slot]);
}

/// The threads of a launch that failed never come back: their stacks are used again as they are, for a fiber
/// that is destroyed would unwind through instrumented code, which has no place to land. Nor do idle fibers:
/// a stack that ran over has been written to below its end, and theirs may be there.
void Scheduler::abandon(Block& block) {
    static auto* const graveyard = new std::vector<context::fiber>;
    const auto bury = [](context::fiber& fiber, std::byte* stack) {
        graveyard->push_back(std::move(fiber));
        stack_pool().give(stack);
    };
    for (auto& t : block.threads)
        if (t.stack != nullptr) bury(t.fiber, std::exchange(t.stack, nullptr));
    for (auto& [fiber, stack] : idle_fibers()) bury(fiber, stack);
    idle_fibers().clear();
}

int Scheduler::barrier(int predicate, const char* name, Site site, const void* code) {
    auto& block = *running_block;
    auto& me = *running;
    if (probe_) probe_->synchronising(code);
    me.waits_in = name;
    me.site = site;
    me.code = code;
    me.state = State::at_barrier;
    me.polls = 0;
    block.barrier_count += predicate != 0;
    if (++block.arrived == block.threads.size())
        release_barrier(block);
    else
        leave();
    return block.barrier_result;
}

/// Everyone is at a barrier: at the same one? Where kernels stand as they were written, access by access,
/// that is the same call; else the same line, for a compiler may have copied the call.
void Scheduler::release_barrier(Block& block) {
    const auto& first = block.threads.front();
    for (const auto& t : block.threads)
        if (t.site != first.site || (probe_ && t.code != first.code)) stop(why_stuck(block, probe_));
    block.arrived = 0;
    ++block.barriers;
    block.barrier_result = std::exchange(block.barrier_count, 0);
    for (auto& t : block.threads) t.state = State::ready;
    if (probe_) probe_->barrier(block);
}

std::uint64_t reduced(Collective what, std::uint64_t a, std::uint64_t b) {
    const bool less = static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b);
    switch (what) {
        case Collective::sum:
            return a + b;
        case Collective::least:
            return less ? a : b;
        case Collective::most:
            return less ? b : a;
        case Collective::least_unsigned:
            return std::min(a, b);
        case Collective::most_unsigned:
            return std::max(a, b);
        case Collective::all_bits:
            return a & b;
        case Collective::any_bit:
            return a | b;
        default:
            return a ^ b;
    }
}

/// What the values of 32 lanes are the addresses of.
template <class T>
std::array<const T*, 32> values_of(std::span<const Thread> warp) {
    std::array<const T*, 32> values;
    for (unsigned l = 0; l < 32; ++l) values[l] = reinterpret_cast<const T*>(warp[l].value);
    return values;
}

/// What is wrong with a call of a warp that takes a matrix; empty if nothing is.
std::string wrong_with_matrix(std::span<const Thread> warp, uint3 block, unsigned present,
                              const Thread& asking) {
    const auto name = std::string(asking.waits_in) + " in " + text_of(asking.site);
    if (warp.size() < 32)
        return name + " takes a whole warp: this one has only " + std::to_string(warp.size()) + " threads";
    if (present != ~0u)
        return name + " takes a whole warp: of this one, lane " + std::to_string(std::countr_one(present)) +
               " has left the kernel";
    for (const auto& t : warp)
        if (t.site != asking.site || std::string_view(t.waits_in) != asking.waits_in)
            return name + " takes a whole warp: lane " + std::to_string(t.lane()) + " of this one is at " +
                   t.waits_in + " in " + text_of(t.site);
    if (asking.collective == Collective::multiply) return "";
    const auto wrong = unlike(values_of<MatrixInMemory>(warp));
    return wrong.empty() ? ""
                         : name + ", by warp " + std::to_string(asking.warp()) + " of block " +
                               text_of(block) + ": " + wrong;
}

/// Gives each lane in `mask` what the collective makes of the values of all.
void combine(std::span<Thread> warp, unsigned mask, Collective what) {
    if (what == Collective::matrix) return;
    if (what == Collective::multiply) {
        session->fragments = true;
        return multiply(values_of<Product>(warp));
    }
    const auto each = [mask](auto&& does) {
        for (auto left = mask; left != 0; left &= left - 1)
            does(static_cast<unsigned>(std::countr_zero(left)));
    };
    std::uint64_t of_all = 0;
    if (what == Collective::ballot) {
        each([&](unsigned l) { of_all |= warp[l].value != 0 ? 1u << l : 0u; });
    } else if (what >= Collective::sum) {
        const auto first = static_cast<unsigned>(std::countr_zero(mask));
        of_all = warp[first].value;
        each([&](unsigned l) { of_all = l == first ? of_all : reduced(what, of_all, warp[l].value); });
    }
    each([&](unsigned l) {
        auto& t = warp[l];
        t.partners = mask;
        t.result = of_all;
        if (what == Collective::shuffle) {
            const auto from = static_cast<unsigned>(t.source) % 32;
            t.result = mask >> from & 1 ? warp[from].value : undefined_value;
        } else if (what == Collective::match) {
            each([&](unsigned k) { t.result |= warp[k].value == t.value ? 1u << k : 0u; });
        }
    });
}

std::uint64_t Scheduler::exchange(Collective what, unsigned mask, std::uint64_t value, int source,
                                  const char* name, Site site, const void* code) {
    auto& block = *running_block;
    auto& me = *running;
    const unsigned lanes = block.lanes(me.warp());
    if (!(mask >> me.lane() & 1))
        stop(std::string(name) + " in " + text_of(site) + ": " + name_of(me.index, block.index) +
             " calls it with the mask " + hexadecimal(mask) + ", which does not name its own lane " +
             std::to_string(me.lane()) +
             "\n  bit i of the mask stands for lane i: it names all lanes that make the call, 0xffffffff the "
             "whole warp");
    mask &= ~0u >> (32 - lanes);
    if (probe_) probe_->synchronising(code);
    me.waits_in = name;
    me.site = site;
    me.code = code;
    me.state = State::at_collective;
    me.collective = what;
    me.mask = mask;
    me.value = value;
    me.source = source;
    auto& warp = block.in_warps[me.warp()];
    if (warp.waiting == 0) warp.mask = mask;
    warp.same_mask = warp.waiting == 0 || (warp.same_mask && warp.mask == mask);
    warp.waiting |= 1u << me.lane();
    // A warp that polls and votes in turn still polls: me.polls goes on.
    if (probe_ && !warp.same_mask)
        for (const auto& t : std::span(&block.threads[me.warp() * 32], lanes))
            if (t.state == State::at_collective && t.code == code && t.mask != mask &&
                t.mask >> me.lane() & 1)
                me.passed_by = t.mask;
    if (!complete_collective(block, me)) leave();  // the lane that completes the mask computes for all
    return me.result;
}

/// Whether all lanes that `asking` waits for have come. Those that have left the kernel are not waited for,
/// as on a GPU.
bool Scheduler::complete_collective(Block& block, const Thread& asking) {
    const auto warp = asking.warp();
    const auto mask = asking.mask;
    auto& known = block.in_warps[warp];
    if ((mask & ~(known.waiting | known.gone)) != 0) return false;
    const std::span lanes(&block.threads[warp * 32], block.lanes(warp));
    const auto what = asking.collective;
    unsigned present = 0;
    for (unsigned l = 0; l < lanes.size(); ++l) {
        const auto& t = lanes[l];
        if (!(mask >> l & 1) || t.state == State::done) continue;
        if (t.state != State::at_collective || t.mask != mask || t.collective != what) return false;
        present |= 1u << l;
    }
    if (what >= Collective::matrix)
        if (const auto wrong = wrong_with_matrix(lanes, block.index, present, asking); !wrong.empty()) {
            fail(wrong);
            return false;
        }
    combine(lanes, present, what);
    for (unsigned l = 0; l < lanes.size(); ++l)
        if (present >> l & 1) {
            lanes[l].state = State::ready;
            if (lanes[l].passed_by == mask) lanes[l].passed_by = 0;
        }
    known.waiting &= ~present;
    if (probe_ && what == Collective::sync) probe_->warp_synchronised(block, warp, present);
    if (probe_ && what != Collective::sync && what < Collective::matrix)
        probe_->exchanged(block, warp, present, asking.code);
    return true;
}

/// The thread has left the kernel: nobody of its warp waits for it any longer.
void Scheduler::excuse(Block& block, const Thread& gone) {
    const auto warp = gone.warp();
    auto& known = block.in_warps[warp];
    known.gone |= 1u << gone.lane();
    if (known.waiting == 0) return;
    for (auto& t : std::span(&block.threads[warp * 32], block.lanes(warp)))
        if (t.state == State::at_collective && t.mask >> gone.lane() & 1) {
            if (t.mask == gone.passed_by) return fail(why_stuck(block, probe_));
            complete_collective(block, t);
        }
}

unsigned Scheduler::active_mask(Site site, const void* code) {
    auto& me = *running;
    if (probe_) probe_->synchronising(code);
    me.waits_in = "__activemask";
    me.site = site;
    me.code = code;
    me.state = State::at_active_mask;
    leave();
    return static_cast<unsigned>(me.result);
}

/// When no lane of a warp can go on, those that ask at the same place are the active ones.
bool Scheduler::release_active_mask(Block& block, unsigned warp) {
    const std::span lanes(&block.threads[warp * 32], block.lanes(warp));
    const Thread* asking = nullptr;
    for (const auto& t : lanes) {
        if (t.state == State::ready && !t.polling)
            return false;  // it has only stopped for its log to be read
        if (t.state == State::at_active_mask && !asking) asking = &t;
    }
    if (!asking) return false;
    const Site site = asking->site;
    unsigned mask = 0;
    for (const auto& t : lanes)
        if (t.state == State::at_active_mask && t.site == site) mask |= 1u << t.lane();
    // Which lanes are together is the hardware's to choose, and need not be all that come: neither in a
    // branch nor behind one.
    if (grid_.conditions.order == kata::Order::shuffled)
        if (const unsigned some = mask & static_cast<unsigned>(random_()); some != 0) mask = some;
    for (auto& t : lanes)
        if (mask >> t.lane() & 1) {
            t.result = mask;
            t.state = State::ready;
        }
    return true;
}

/// Whoever changes memory by one atomic after the other does not wait.
void watch_updates(Thread& t, const void* address, unsigned bytes, const void* code) {
    if (t.updated) t.changes = std::memcmp(t.updated, t.held, t.updated_bytes) != 0;
    t.updated = address;
    t.updated_in = code;
    t.updated_bytes = std::min<unsigned>(bytes, sizeof t.held);
    std::memcpy(t.held, address, t.updated_bytes);
}

void Scheduler::before_atomic(const void* address, unsigned bytes, const void* code, AtomicFor whom) {
    poll();
    if (probe_) probe_->atomic(address, bytes, code, whom);  // ends the launch where there is no memory
    if (running->polls > polls_per_turn) watch_updates(*running, address, bytes, code);
}

}  // namespace

int multiprocessors() {
    return session ? session->conditions.multiprocessors : kata::Conditions{}.multiprocessors;
}
Probe* listener() { return meter && session && session->conditions.metered ? meter() : nullptr; }
[[noreturn]] void give_up(const std::string& message) { scheduler->stop(message); }

[[noreturn]] void out_of_memory() {
    spare_memory.reset();
    if (running) give_up(kata::out_of_memory);
    throw std::bad_alloc();
}
void pause() { scheduler->pause(); }
void poll() { scheduler->poll(); }
std::string which_launch() { return scheduler->which_launch(); }

namespace {

/// While it lives, kernels call this scheduler.
struct Current {
    explicit Current(Scheduler& one) { scheduler = &one; }
    ~Current() { scheduler = nullptr; }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;
};

void run_here(const Launch& launch, std::byte garbage, Scheduler::Blocks blocks = {}) {
    if (session) session->blocks_promised = 1;
    Scheduler one(launch, garbage, std::move(blocks));
    const Current current(one);
    const Watchdog watchdog(one.looks_after(), [] {
        if (running) scheduler->end_if_stuck();
    });
    const DivisionTrap trap([](const void* code) {
        if (running) scheduler->divided_by_zero(code);
    });
    one.run();
}

/// Of each group of so many blocks one, which is chosen by no rule that a grid could have, too.
class Sample {
  public:
    Sample(std::uint64_t blocks, std::uint64_t one_in)
        : blocks_(blocks), group_(std::min(one_in, std::max<std::uint64_t>(blocks, 1))) {}
    bool contains(std::uint64_t block) const { return block == member(block / group_); }
    /// Of the group; none where the last group is too small for it.
    std::uint64_t member(std::uint64_t group) const {
        auto mixed = (group + 1) * 0x9E3779B97F4A7C15;
        mixed = (mixed ^ mixed >> 32) * 0xD6E8FEB86659FD93;
        return group * group_ + (mixed ^ mixed >> 32) % group_;
    }
    std::uint64_t blocks() const { return blocks_; }
    std::uint64_t groups() const { return (blocks_ + group_ - 1) / group_; }

  private:
    std::uint64_t blocks_, group_;
};

/// Counts a sample of the blocks in this process, while others run the rest without counting. Races are then
/// found within blocks and between those of the sample only.
void run_shared_out(const Launch& launch, std::byte garbage) {
    const Sample sample(blocks_of(launch), session->conditions.one_in);
    have_in_common(image_of(launch.code).writable);
    for (const auto& a : allocations()) have_in_common(a.pages);
    Workers workers([&](const Workers& all) {
        session->conditions.metered = false;
        if (meter) meter()->observation_begins(session->conditions);
        bool first = true;
        run_here(launch, garbage, [&]() -> std::optional<std::uint64_t> {
            if (!std::exchange(first, false)) all.done();
            for (;;) {
                const auto block = all.take();
                if (block >= sample.blocks()) return std::nullopt;
                if (!sample.contains(block)) return block;
            }
        });
    });
    const auto tell = [&] {
        if (session->conditions.progress)
            session->conditions.progress(static_cast<double>(workers.all_done()) /
                                         static_cast<double>(sample.blocks()));
    };
    bool first = true;
    std::uint64_t group = 0;
    run_here(launch, garbage, [&]() -> std::optional<std::uint64_t> {
        if (!std::exchange(first, false)) workers.done();
        tell();
        if (group == sample.groups() || sample.member(group) >= sample.blocks()) return std::nullopt;
        return sample.member(group++);
    });
    workers.wait(tell);
}

/// Runs blocks as far apart as they can be, until their threads have taken so many steps, or who watches has
/// seen enough. However soon that is, the golden section leaves no large gap and repeats no row of the grid;
/// Sample would have to know it beforehand. Who asks for it sees the first and the last one, too, which often
/// are unlike the others.
void run_some(const Launch& launch, std::byte garbage, std::uint64_t enough) {
    constexpr double golden_section = 0.6180339887498949;
    const auto blocks = blocks_of(launch);
    auto stride =
        std::max<std::uint64_t>(1, static_cast<std::uint64_t>(golden_section * static_cast<double>(blocks)));
    while (std::gcd(stride, blocks) != 1) ++stride;
    const auto end = listener()->steps() + enough;
    std::uint64_t begun = 0;
    std::vector<std::uint64_t> ends{blocks - 1, 0};
    bool is_enough = false;
    run_here(launch, garbage, [&]() -> std::optional<std::uint64_t> {
        if (!is_enough && begun < blocks &&
            (begun == 0 || (listener()->steps() < end && !listener()->has_enough()))) {
            const auto next = (blocks / 2 + begun++ * stride) % blocks;
            std::erase(ends, next);
            return next;
        }
        if (!std::exchange(is_enough, true) && !listener()->sample_ends()) ends.clear();
        if (ends.empty()) return std::nullopt;
        const auto next = ends.back();
        ends.pop_back();
        return next;
    });
}

/// Runs the first four blocks, the last four, and those that reach an end of a large buffer. Of a small array
/// one block or two more than it needs may be launched, and the last that has work is still among them.
void run_reaching(const Launch& launch, std::byte garbage) {
    const auto blocks = blocks_of(launch), looked_at = blocks_searched(launch);
    const auto of_grid = [=](std::uint64_t i) { return i < looked_at / 2 ? i : blocks - looked_at + i; };
    const auto found = search_blocks(looked_at, [&](const SearchedBlocks& searched) {
        session->conditions.metered = false;
        Scheduler one(launch, garbage, {});
        const Current current(one);
        const DivisionTrap trap([](const void* code) {
            if (running) scheduler->divided_by_zero(code);
        });
        one.search([&]() -> std::optional<std::uint64_t> {
            const auto next = searched();
            return next ? std::optional(of_grid(*next)) : std::nullopt;
        });
    });
    constexpr std::uint64_t at_an_end = 4;
    std::set<std::uint64_t> chosen;
    for (std::uint64_t i = 0; i < std::min(at_an_end, blocks); ++i) chosen.insert({i, blocks - 1 - i});
    for (const auto block : found.blocks) chosen.insert(of_grid(block));
    session->hints.push_back(
        "of the " + std::to_string(blocks) + " blocks of " + as_written(launch) + " " +
        std::to_string(chosen.size()) +
        " were run: the first four, the last four, and those whose threads reach an end of a large buffer "
        "before their first barrier" +
        (found.complete && looked_at == blocks ? "" : "; there may be more of these than were looked for"));
    run_here(launch, garbage, [&chosen, next = chosen.begin()]() mutable -> std::optional<std::uint64_t> {
        return next == chosen.end() ? std::nullopt : std::optional(*next++);
    });
}

void run_once(const Launch& launch, std::byte garbage) {
    session->in_part = session->in_part || is_run_in_part(launch);
    if (session->conditions.sample && listener() && blocks_of(launch) > 0)
        run_some(launch, garbage, *session->conditions.sample);
    else if (session->conditions.one_in > 1 && can_share_out() && listener() && blocks_of(launch) > 0)
        run_shared_out(launch, garbage);
    else if (is_run_in_part(launch) && session->conditions.search != kata::Search::none)
        run_reaching(launch, garbage);
    else
        run_here(launch, garbage);
}

/// Other garbage than `kata::poison`: as a float and as an integer large and positive.
constexpr std::byte other_garbage{0x7F};

/// Runs a launch as run_once does. Where blocks are left out of it, or were of an earlier one, what it
/// changes in the variables will be put back.
void run_and_note_changes(const Launch& launch, const Range& variables) {
    if (!session->conditions.sample && !session->in_part && !is_run_in_part(launch))
        return run_once(launch, kata::poison);
    const Snapshot before(variables, false);
    try {
        run_once(launch, kata::poison);
    } catch (...) {
        session->changes.add(before);
        throw;
    }
    session->changes.add(before);
}

/// Tells of a launch that was for nothing, with what memory held before and holds behind it.
void look_for_effect(const Launch& launch, const Probe& probe, std::uint64_t before, std::uint64_t behind) {
    constexpr std::size_t enough = 3;
    const auto [earlier, is_new] = session->states.try_emplace(behind, session->launches);
    if ((before != behind && is_new) || session->idle.size() >= enough || probe.only_cleared()) return;
    const auto which = "the " + ordinal(session->launches) + " launch, " + launch.name + "<<<…>>> in " +
                       text_of(launch.site) + ", ";
    if (before == behind)
        session->idle.push_back(which + "changes nothing: device memory holds the same as before it");
    else
        session->idle.push_back(which + "leaves device memory as it was behind the " +
                                ordinal(earlier->second) + ": what came in between was for nothing");
}

}  // namespace

void run(const Launch& launch) {
    if (running)
        give_up("a kernel launches a kernel: dynamic parallelism has no meaning on the CPU back end");
    if (!session) throw kata::Error("launch outside of observe()");
    ++session->launches;
    if (session->launched.size() < kata::Observation::launches_named)
        session->launched.push_back(as_written(launch));
    host_launches();
    const Reachable now;
    Probe* const probe = listener();
    const auto image = image_of(launch.code);
    // Above this size it is told whether or not it makes a difference.
    constexpr std::size_t most_bytes = std::size_t{256} << 20;
    const bool may_look =
        probe && !session->conditions.sample && bytes_to_write(image.writable) <= most_bytes;
    std::optional<Snapshot> before;
    if (may_look && (image.shared.size() > 0 || launch.shared_bytes > 0)) before.emplace(image.writable);
    const auto state = may_look ? state_of_memory(image.writable) : 0;
    const auto first_tick = last_tick;
    run_and_note_changes(launch, image.writable);
    ask_for_launch(launch.stream, launch.site, probe ? probe->footprint() : Footprint{});
    if (may_look) look_for_effect(launch, *probe, state, state_of_memory(image.writable));
    if (!probe || !probe->in_doubt()) return;
    bool different = true;
    probe->rehearsal_begins();
    if (before) {
        const Snapshot first(image.writable);
        before->restore();
        last_tick = first_tick;
        try {
            run_once(launch, other_garbage);
            different = !(Snapshot(image.writable) == first);
        } catch (const kata::Error&) {  // that is a difference, too
        }
        first.restore();
    }
    probe->rehearsal_ends(different);
}

[[noreturn]] void open() { throw kata::OpenKata{}; }
[[noreturn]] void fail(const char* error, const char* file, int line) {
    throw kata::Error(text_of(Site{file, line}) + ": " + error);
}

int barrier(int predicate, const char* name, Site site) {
    return scheduler->barrier(predicate, name, site, __builtin_return_address(0));
}
std::uint64_t exchange(Collective what, unsigned mask, std::uint64_t value, int source, const char* name,
                       Site site) {
    return scheduler->exchange(what, mask, value, source, name, site, __builtin_return_address(0));
}
InToolkit::InToolkit() noexcept { ++running->in_toolkit; }
InToolkit::~InToolkit() { --running->in_toolkit; }
unsigned active_mask(Site site) { return scheduler->active_mask(site, __builtin_return_address(0)); }
AtomicUpdate::AtomicUpdate(const void* address, unsigned bytes, const void* code, AtomicFor whom) noexcept {
    scheduler->before_atomic(address, bytes, code, whom);
    lock_ = lock_for(address);
}
void swapped() { scheduler->swapped(); }
AtomicUpdate::AtomicUpdate(Store, const void* address, unsigned bytes, const void* code,
                           AtomicFor whom) noexcept {
    scheduler->before_atomic_store(address, bytes, code, whom);
    lock_ = lock_for(address);
}
AtomicUpdate::~AtomicUpdate() { unlock(lock_); }
void before_atomic_load(const void* address, unsigned bytes, const void* code, AtomicFor whom) {
    scheduler->before_atomic_load(address, bytes, code, whom);
}
void before_read_only(const void* address, unsigned bytes) {
    scheduler->before_read_only(address, bytes, __builtin_return_address(0));
}
void no_grid_barrier(Site site) {
    give_up("this_grid().sync() in " + text_of(site) +
            ": blocks wait for each other only in a cooperative launch, which the CPU back end has not: this "
            "step needs a GPU build");
}
void fence() { scheduler->fence(); }
void yield() {
    running->polls |= polls_per_turn - 1;  // so that the turn ends
    scheduler->poll();
}
long long ticks() {
    scheduler->clock_goes_on();
    scheduler->poll();
    return last_tick += 32;
}
void trap(Site site) {
    give_up("__trap() in " + text_of(site) + ": " + name_of(running->index, running_block->index) +
            " ends the launch");
}
int lane() { return static_cast<int>(running->lane()); }
unsigned partners() { return running->partners; }
void hold_to_bounds(std::uint64_t threads, std::uint64_t blocks, std::uint64_t) noexcept {
    if (session) session->blocks_promised = std::max<std::uint64_t>(blocks, 1);
    const kata::Extent block{blockDim.x, blockDim.y, blockDim.z}, grid{gridDim.x, gridDim.y, gridDim.z};
    if (block.volume() > threads)
        give_up(kata::Configuration{grid, block, running_block->dynamic.size()}.refused() +
                ": __launch_bounds__ promise the kernel no more than " + std::to_string(threads) +
                " threads in a block");
}

void hold_local(const char* name, std::size_t bytes, Site site) noexcept {
    constexpr std::uint64_t of_a_thread = 255, of_a_multiprocessor = 65536;
    if (!session) return;
    const auto threads = kata::Extent{blockDim.x, blockDim.y, blockDim.z}.volume();
    const auto blocks = session->blocks_promised;
    const auto most = std::min(of_a_thread, of_a_multiprocessor / (threads * blocks));
    if (bytes / 4 < most) return;  // as many leave none for anything else
    std::string text = "the local array \"" + std::string(name) + "\" in " + text_of(site) +
                       " does not fit into the registers of a thread: it has " + std::to_string(bytes / 4) +
                       " words of 4 bytes, and a thread has " + std::to_string(most) + " registers at most";
    if (most < of_a_thread)
        text += ", where " +
                (blocks > 1 ? std::to_string(blocks) + " blocks are promised, of " : "a block has ") +
                std::to_string(threads) + " threads";
    auto& spilled = session->spilled;
    if (std::find(spilled.begin(), spilled.end(), text) == spilled.end()) spilled.push_back(std::move(text));
}

}  // namespace simt

// glibc's assert() ends here; in a kernel it ends the launch instead of the process.
extern "C" void __assert_fail(const char* what, const char* file, unsigned line, const char*) noexcept {
    if (simt::running)
        simt::give_up("assertion failed: " + std::string(what) + " in " +
                      simt::text_of({file, static_cast<int>(line)}) + ", " +
                      simt::name_of(simt::running->index, simt::running_block->index));
    std::fprintf(stderr, "%s:%u: assertion failed: %s\n", file, line, what);
    std::abort();
}

namespace kata {

Observation observe(const Conditions& conditions, const std::function<void()>& work) {
    if (simt::session) throw Error("observe() inside of observe()");
    simt::Session session{conditions};
    simt::session = &session;
    constexpr std::size_t enough_to_say_so = 1 << 20;
    if (!simt::spare_memory) simt::spare_memory = std::make_unique<std::byte[]>(enough_to_say_so);
    struct Reset {
        std::new_handler before = std::set_new_handler(simt::out_of_memory);
        ~Reset() {
            std::set_new_handler(before);
            simt::session = nullptr;
            simt::host_work_ends();
        }
    };
    Observation seen;
    simt::Probe* const probe = simt::meter ? simt::meter() : nullptr;
    if (probe) probe->observation_begins(conditions);
    simt::HostWork host;
    {
        const Reset reset;
        simt::host_work_begins();
        try {
            work();
        } catch (Error& e) {
            e.launched = session.launched;
            e.launches = session.launches;
            throw;
        }
        host = simt::host_work_ends();
    }
    seen.launches = session.launches;
    seen.launched = std::move(session.launched);
    seen.one_in = conditions.one_in;
    if (probe && conditions.metered) probe->observation_ends(seen);
    seen.findings.insert(seen.findings.end(), host.findings.begin(), host.findings.end());
    seen.unchecked = host.unchecked;
    seen.in_part = session.in_part;
    seen.fragments = session.fragments;
    seen.next = session.next;
    seen.hints.insert(seen.hints.end(), session.hints.begin(), session.hints.end());
    seen.idle = std::move(session.idle);
    seen.spilled = std::move(session.spilled);
    if (seen.counts) {
        seen.counts->bytes_to_host = host.bytes_to_host;
        seen.counts->bytes_to_device = host.bytes_to_device;
        seen.counts->bytes_beside = host.bytes_beside;
    }
    return seen;
}

const char* backend_name() { return "cpu"; }
std::string device_name() { return std::string("CPU back end, limits of ") + simt::architecture; }
std::size_t most_shared_memory() { return simt::limits.shared; }
bool counts_available() { return simt::meter != nullptr; }
bool keeps_time() { return false; }
std::unique_ptr<Stopwatch> stopwatch() { return nullptr; }

}  // namespace kata
