// Runs a grid: a block is a set of fibers on one operating-system thread, its warps take turns, and a thread
// gives up its turn only where it waits. Nothing is left to chance but what a printed seed decides.
#include "simt/scheduler.hpp"

#include "buffer.hpp"
#include "error.hpp"
#include "simt/admit.hpp"
#include "simt/diagnose.hpp"
#include "simt/image.hpp"
#include "simt/matrices.hpp"
#include "simt/runtime.hpp"
#include "simt/stacks.hpp"
#include "simt/watchdog.hpp"
#include "stopwatch.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <ctime>
#include <exception>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <span>

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

/// What the launches of one observation share.
struct Session {
    kata::Conditions conditions;
    std::uint64_t launches = 0;
};
Session* session = nullptr;

class Scheduler {
  public:
    explicit Scheduler(const Launch& launch)
        : grid_{launch, image_of(launch.code), launch.block, launch.grid, session->conditions},
          probe_(meter && session->conditions.metered ? meter() : nullptr),
          random_(grid_.conditions.seed),
          time_limit_(grid_.conditions.time_limit.value_or(2.0)),
          deadline_(processor_seconds() + time_limit_) {}

    void run() {
        admit(grid_);
        ::blockDim = grid_.block_dim;
        ::gridDim = grid_.grid_dim;
        if (probe_) probe_->launch_begins(grid_);
        const std::uint64_t blocks =
            static_cast<std::uint64_t>(grid_.grid_dim.x) * grid_.grid_dim.y * grid_.grid_dim.z;
        std::uint64_t next = 0;
        // Two blocks at a time where their shared memory can be kept apart and the order is to be mixed.
        const bool mixed = grid_.conditions.order == kata::Order::shuffled;
        const unsigned places = mixed && can_move_shared && !grid_.image.path.empty() ? 2 : 1;
        auto order = block_order(blocks);
        while (!fault_) {
            for (unsigned slot = 0; slot < places && next < blocks; ++slot)
                if (!resident_[slot]) start(slot, order(next++));
            Block* block = pick();
            if (!block) break;
            work_on(*block);
        }
        for (auto& block : resident_)
            if (block) abandon(*block);
        if (fault_) stack_pool().forget_frames();
        running_block = nullptr;
        if (probe_) probe_->launch_ends();
        if (fault_) std::rethrow_exception(fault_);
    }

    // Called on the threads' side.

    [[noreturn]] void stop(const std::string& message) {
        fail(message);
        leave();
        __builtin_unreachable();
    }
    void pause() {
        running->paused = true;
        leave();
    }
    double time_limit() const { return time_limit_; }
    /// To be called from time to time behind the time limit: ends a launch whose thread has not come back to
    /// the scheduler since the last call, for one that does will be told there.
    void end_if_stuck() {
        if (std::exchange(resumes_when_asked_, resumes_) == resumes_)
            stop(spinning(*running_block, time_limit_));
    }
    int barrier(int predicate, const char* name, Site site, const void* code);
    std::uint64_t exchange(Collective, unsigned mask, std::uint64_t value, int source, const char* name, Site,
                           const void* code);
    unsigned active_mask(Site, const void* code);
    void before_atomic(const void* address, unsigned bytes, const void* code, AtomicFor whom);
    void before_atomic_load(const void* address, unsigned bytes, const void* code, AtomicFor whom) {
        poll();
        if (probe_) probe_->atomic_load(address, bytes, code, whom);
    }
    void before_atomic_store(const void* address, unsigned bytes, const void* code, AtomicFor whom) {
        if (probe_) probe_->atomic_store(address, bytes, code, whom);
    }
    void fence() {
        if (probe_) probe_->fence(*running_block, *running);
    }
    void poll() {
        if (++running->polls % polls_per_turn != 0) return;
        running->polling = true;
        pause();
    }

  private:
    static double processor_seconds() {
        timespec t;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
    }

    std::function<std::uint64_t(std::uint64_t)> block_order(std::uint64_t blocks);
    void start(unsigned slot, std::uint64_t linear);
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

    /// Ends the launch, unless something has ended it already.
    void fail(const std::string& message) {
        if (!fault_) fault_ = std::make_exception_ptr(kata::Error(message));
    }
    /// Back to the scheduler; returns when the thread is resumed.
    void leave() { scheduler_ = std::move(scheduler_).resume(); }

    Grid grid_;
    Probe* probe_;
    std::mt19937 random_;
    double time_limit_, deadline_;  // seconds of processor time
    unsigned resumes_ = 0, resumes_when_asked_ = ~0u;
    context::fiber scheduler_;
    std::array<std::unique_ptr<Block>, 2> resident_;
    std::unique_ptr<Block> spare_;
    unsigned last_ = 0;
    Block* in_shared_ = nullptr;  // whose static shared memory is in place
    std::exception_ptr fault_;    // what ends the launch
};

Scheduler* scheduler = nullptr;

std::function<std::uint64_t(std::uint64_t)> Scheduler::block_order(std::uint64_t blocks) {
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

void Scheduler::start(unsigned slot, std::uint64_t linear) {
    resident_[slot] = spare_ ? std::move(spare_) : std::make_unique<Block>();
    auto& block = *resident_[slot];
    const auto& b = grid_.block_dim;
    const auto& g = grid_.grid_dim;
    const unsigned threads = b.x * b.y * b.z;
    block.slot = slot;
    block.linear = linear;
    block.index = {static_cast<unsigned>(linear % g.x), static_cast<unsigned>(linear / g.x % g.y),
                   static_cast<unsigned>(linear / g.x / g.y)};
    block.threads.resize(threads);
    block.alive = threads;
    block.arrived = block.barriers = 0;
    block.started = false;
    for (unsigned i = 0; i < threads; ++i) {
        auto& t = block.threads[i];
        t.state = State::fresh;
        t.paused = false;
        t.linear = i;
        t.index = {i % b.x, i / b.x % b.y, i / b.x / b.y};
        t.polls = 0;
        t.copies.under_way.clear();
        t.copies.groups = 0;
    }
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
    block.dynamic.assign(grid_.launch.shared_bytes, kata::poison);  // shared memory starts as garbage
    block.saved.assign(grid_.image.shared.size(), kata::poison);
    if (probe_) probe_->block_begins(block);
}

/// The resident block whose turn it is.
Block* Scheduler::pick() {
    for (unsigned k = 1; k <= 2; ++k)
        if (auto& block = resident_[(last_ + k) % 2]) {
            last_ = block->slot;
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
    block.started = true;
}

/// Runs the block until it is done, cannot go on alone, or has had its turn.
void Scheduler::work_on(Block& block) {
    enter(block);
    const bool alone = !resident_[1 - block.slot];
    for (;;) {
        bool progress = false, polling = false;
        for (const auto warp : block.warp_order) {
            progress = run_warp(block, warp) || progress;
            if (fault_) return;
        }
        if (block.alive == 0) return finish(block);
        for (auto& t : block.threads)
            polling = polling || (t.state == State::ready && t.polls >= polls_per_turn);
        if (!progress) {
            fail(why_stuck(block));
            return;
        }
        if (processor_seconds() > deadline_) {
            fail(spinning(block, time_limit_));
            return;
        }
        if (!alone && (polling || random_() % 4 == 0)) return;
    }
}

/// Gives every lane of the warp its turns until none can go on. Whether any did.
bool Scheduler::run_warp(Block& block, unsigned warp) {
    const unsigned first = warp * 32, lanes = block.lanes(warp);
    bool any = false, again = true;
    while (again) {
        again = false;
        for (const auto lane : block.lane_order) {
            if (lane >= lanes) continue;
            auto& t = block.threads[first + lane];
            if (!t.can_go_on() || t.paused || (probe_ && probe_->log_full(t))) continue;
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

void Scheduler::resume(Block& block, Thread& t) {
    ::threadIdx = t.index;
    running = &t;
    t.polling = false;
    if (t.state == State::fresh) {
        t.state = State::ready;
        t.stack = stack_pool().take();
        t.fiber = context::fiber(std::allocator_arg, PooledStack{t.stack}, [this](context::fiber&& from) {
            scheduler_ = std::move(from);
            try {
                grid_.launch.call(grid_.launch.arguments);
            } catch (const context::detail::forced_unwind&) {
                throw;
            } catch (const kata::OpenKata&) {
                fault_ = std::current_exception();
            } catch (const std::exception& e) {
                fail(std::string("the kernel threw: ") + e.what());
            }
            running->state = State::done;
            return std::move(scheduler_);
        });
    }
    t.fiber = std::move(t.fiber).resume();
    running = nullptr;
    if (t.state == State::done) {
        --block.alive;
        stack_pool().give(t.stack);
        t.stack = nullptr;
    }
    if (++resumes_ % 1024 == 0 && processor_seconds() > deadline_) fail(spinning(block, time_limit_));
}

void Scheduler::finish(Block& block) {
    if (probe_) probe_->block_ends(block);
    in_shared_ = nullptr;
    spare_ = std::move(resident_[block.slot]);
}

/// The threads of a launch that failed never come back: their stacks are used again as they are, for a fiber
/// that is destroyed would unwind through instrumented code, which has no place to land.
void Scheduler::abandon(Block& block) {
    static auto* const graveyard = new std::vector<context::fiber>;
    for (auto& t : block.threads) {
        if (t.stack == nullptr) continue;
        graveyard->push_back(std::move(t.fiber));
        stack_pool().give(t.stack);
        t.stack = nullptr;
    }
}

int Scheduler::barrier(int predicate, const char* name, Site site, const void* code) {
    auto& block = *running_block;
    auto& me = *running;
    if (probe_) probe_->synchronising(code);
    me.waits_in = name;
    me.site = site;
    me.state = State::at_barrier;
    me.polls = 0;
    block.barrier_count += predicate != 0;
    if (++block.arrived == block.threads.size())
        release_barrier(block);
    else
        leave();
    return block.barrier_result;
}

/// Everyone is at a barrier: at the same one?
void Scheduler::release_barrier(Block& block) {
    const auto& first = block.threads.front();
    for (const auto& t : block.threads)
        if (t.site != first.site) stop(why_stuck(block));
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

/// Gives each lane in `mask` what the collective makes of the values of all.
void combine(std::span<Thread> warp, unsigned mask, Collective what) {
    if (what == Collective::multiply) {
        if (mask != ~0u) give_up("mma_sync takes a whole warp, and this one has fewer than 32 threads");
        const Product* lanes[32];
        for (unsigned l = 0; l < 32; ++l) lanes[l] = reinterpret_cast<const Product*>(warp[l].value);
        return multiply(lanes);
    }
    for (unsigned l = 0; l < warp.size(); ++l) {
        if (!(mask >> l & 1)) continue;
        auto& t = warp[l];
        t.result = 0;
        switch (what) {
            case Collective::sync:
                break;
            case Collective::shuffle: {
                const auto from = static_cast<unsigned>(t.source) % 32;
                t.result = mask >> from & 1 ? warp[from].value : t.value;
                break;
            }
            case Collective::ballot:
                for (unsigned k = 0; k < warp.size(); ++k)
                    if (mask >> k & 1 && warp[k].value != 0) t.result |= 1u << k;
                break;
            case Collective::match:
                for (unsigned k = 0; k < warp.size(); ++k)
                    if (mask >> k & 1 && warp[k].value == t.value) t.result |= 1u << k;
                break;
            default:
                t.result = warp[static_cast<unsigned>(std::countr_zero(mask))].value;
                for (auto k = static_cast<unsigned>(std::countr_zero(mask)) + 1; k < warp.size(); ++k)
                    if (mask >> k & 1) t.result = reduced(what, t.result, warp[k].value);
                break;
        }
    }
}

std::uint64_t Scheduler::exchange(Collective what, unsigned mask, std::uint64_t value, int source,
                                  const char* name, Site site, const void* code) {
    auto& block = *running_block;
    auto& me = *running;
    const unsigned first = me.warp() * 32;
    const unsigned lanes = block.lanes(me.warp());
    if (!(mask >> me.lane() & 1))
        stop(std::string(name) + " in " + text_of(site) + ": " + name_of(me.index, block.index) +
             " calls it with a mask that does not name its own lane " + std::to_string(me.lane()));
    mask &= present_lanes();
    if (probe_) probe_->synchronising(code);
    me.waits_in = name;
    me.site = site;
    me.state = State::at_collective;
    me.collective = what;
    me.mask = mask;
    me.value = value;
    me.source = source;
    me.polls = 0;
    Thread* warp = &block.threads[first];
    for (unsigned l = 0; l < lanes; ++l) {
        if (!(mask >> l & 1)) continue;
        const auto& t = warp[l];
        if (t.state == State::at_collective && t.mask == mask && t.collective == what) continue;
        leave();  // the lane that completes the mask computes for all
        return me.result;
    }
    combine({warp, lanes}, mask, what);
    for (unsigned l = 0; l < lanes; ++l)
        if (mask >> l & 1) warp[l].state = State::ready;
    if (probe_ && what == Collective::sync) probe_->warp_synchronised(block, me.warp(), mask);
    return me.result;
}

unsigned Scheduler::active_mask(Site site, const void* code) {
    auto& me = *running;
    if (probe_) probe_->synchronising(code);
    me.waits_in = "__activemask";
    me.site = site;
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
    for (auto& t : lanes)
        if (mask >> t.lane() & 1) {
            t.result = mask;
            t.state = State::ready;
        }
    return true;
}

void Scheduler::before_atomic(const void* address, unsigned bytes, const void* code, AtomicFor whom) {
    poll();
    if (probe_) probe_->atomic(address, bytes, code, whom);
}

}  // namespace

[[noreturn]] void give_up(const std::string& message) { scheduler->stop(message); }
void pause() { scheduler->pause(); }
void poll() { scheduler->poll(); }

void run(const Launch& launch) {
    if (running)
        give_up("a kernel launches a kernel: dynamic parallelism has no meaning on the CPU back end");
    if (!session) throw kata::Error("launch outside of observe()");
    ++session->launches;
    Scheduler one(launch);
    scheduler = &one;
    const Watchdog watchdog(one.time_limit(), [] {
        if (running) scheduler->end_if_stuck();
    });
    try {
        one.run();
    } catch (...) {
        scheduler = nullptr;
        throw;
    }
    scheduler = nullptr;
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
unsigned active_mask(Site site) { return scheduler->active_mask(site, __builtin_return_address(0)); }
void before_atomic(const void* address, unsigned bytes, const void* code, AtomicFor whom) {
    scheduler->before_atomic(address, bytes, code, whom);
}
void before_atomic_load(const void* address, unsigned bytes, const void* code, AtomicFor whom) {
    scheduler->before_atomic_load(address, bytes, code, whom);
}
void before_atomic_store(const void* address, unsigned bytes, const void* code, AtomicFor whom) {
    scheduler->before_atomic_store(address, bytes, code, whom);
}
void bad_matrix(const char* name, Site site) {
    give_up(
        std::string(name) + " in " + text_of(site) + ": " + name_of(running->index, running_block->index) +
        ": the 32 lanes of a warp give it one address, a multiple of 32 bytes, and rows that are a multiple "
        "of 16 bytes apart");
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
void launch_bounds(unsigned threads) {
    const auto asked = ::blockDim.x * ::blockDim.y * ::blockDim.z;
    if (asked > threads)
        give_up("launch refused: " + std::to_string(asked) +
                " threads a block, and the kernel says __launch_bounds__ of " + std::to_string(threads));
}
long long ticks() {
    static long long count = 0;
    scheduler->poll();
    return count += 32;
}
void trap(Site site) {
    give_up("__trap() in " + text_of(site) + ": " + name_of(running->index, running_block->index) +
            " ends the launch");
}
int lane() { return static_cast<int>(running->lane()); }
unsigned present_lanes() { return ~0u >> (32 - running_block->lanes(running->warp())); }

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
    struct Reset {
        ~Reset() { simt::session = nullptr; }
    } reset;
    Observation seen;
    simt::Probe* const probe = simt::meter ? simt::meter() : nullptr;
    if (probe) probe->observation_begins(conditions);
    work();
    seen.launches = session.launches;
    if (probe && conditions.metered) probe->observation_ends(seen);
    return seen;
}

const char* backend_name() { return "cpu"; }
std::string device_name() { return std::string("CPU back end, limits of ") + simt::architecture; }
bool counts_available() { return simt::meter != nullptr; }
bool keeps_time() { return false; }
std::unique_ptr<Stopwatch> stopwatch() { return nullptr; }

}  // namespace kata
