#include "simt/scheduler.hpp"

#include "simt/session.hpp"
#include "simt/stacks.hpp"
#include "simt/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <new>
#include <numeric>
#include <sstream>

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;
extern "C" {
std::byte* simt_dynamic_shared;  // kernels see it as `extern __shared__`, by any name
}

namespace simt {

Thread* running = nullptr;
Block* running_block = nullptr;
Scheduler* scheduler = nullptr;

namespace {

// As in cuda.hpp.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool can_move_shared = false;
#else
constexpr bool can_move_shared = true;
#endif

/// Seconds of processor time that a launch may take if the conditions set no limit and nothing is counted.
constexpr double patience = 20;
/// A block that has had this many turns is assumed to poll.
constexpr unsigned turns_of_each = 100;
/// With latest_first: turns that a polling block has before other blocks have theirs.
constexpr unsigned turns_to_look = 4;
/// The parts of most_steps that a block may take to poll in vain, and in a sample.
constexpr std::uint64_t part_in_vain = 10, part_in_sample = 2;

double processor_seconds() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Prefetches what the next threads need: thousands of stacks do not fit into a cache.
void fetch(const Thread& next, const Thread& after_it) {
    for (const auto at : {next.left_at - 128, next.left_at - 64, next.left_at, next.left_at + 64})
        __builtin_prefetch(reinterpret_cast<const void*>(at));
    __builtin_prefetch(&after_it);
    __builtin_prefetch(&after_it.waits_in);
}

}  // namespace

Scheduler::Scheduler(const Launch& launch, std::byte garbage, NextBlock blocks)
    : grid_{launch, image_of(launch.code), launch.block, launch.grid, session->conditions},
      garbage_(garbage),
      blocks_(std::move(blocks)),
      probe_(listener()),
      random_(grid_.conditions.seed),
      time_limit_(grid_.conditions.time_limit.value_or(patience)),
      started_(processor_seconds()) {}

void Scheduler::run() {
    admit(grid_);
    ::blockDim = grid_.block_dim;
    ::gridDim = grid_.grid_dim;
    if (probe_) {
        probe_->launch_begins(grid_);
        steps_before_ = vain_since_ = probe_->steps();
    }
    if (!blocks_) blocks_ = all_blocks();
    // Several blocks are resident if the order is mixed and their shared memory can be kept apart. The meter
    // has room for two.
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
    } catch (const std::bad_alloc&) {  // thrown by the scheduler, not in a thread
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

NextBlock Scheduler::all_blocks() {
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
        t.copies.in_flight.clear();
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
    block.dynamic.reserve(1);  // an address to report if a kernel uses what its launch did not request
    block.dynamic.assign(grid_.launch.shared_bytes, garbage_);  // shared memory starts as garbage
    block.saved.assign(grid_.image.shared.size(), garbage_);
    if (probe_) probe_->block_begins(block);
}

/// Lets polling blocks look again, except the one that has made the change.
void Scheduler::look_again(const Block* done_by) {
    for (const auto& other : resident_)
        if (other && other.get() != done_by) other->polls = false, other->turns = 0;
}

/// True once all others poll, or after a number of turns, because a block that passes barriers between its
/// polls is not seen to poll.
bool Scheduler::is_held_long_enough() {
    return ++turns_held_ > turns_of_each * resident_.size() ||
           std::all_of(resident_.begin(), resident_.end(), [&](const auto& block) {
               return !block || block.get() == held_back_ || block->polls;
           });
}

/// Returns the resident block that started last, or has not yet started, among those that do not poll; among
/// all if all poll.
Block* Scheduler::latest() {
    const auto latest_of_busy = [&] {
        Block* found = nullptr;
        for (const auto& block : resident_)
            // The number 0 of a block that has not started becomes the largest.
            if (block && block.get() != held_back_ && !block->polls &&
                (!found || block->number - 1 > found->number - 1))
                found = block.get();
        return found;
    };
    if (auto* const busy = latest_of_busy()) return busy;
    look_again();
    return latest_of_busy();
}

/// Returns the resident block whose turn it is: the other one of two, or any of more. A block that is held
/// back has its turn once it has waited long enough.
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

/// Installs the block's static shared memory and built-in variables.
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
        // A block that passes barriers between its polls is not seen to poll; one that polls may be about to
        // see a change.
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

void Scheduler::resume(Block& block, Thread& t) {
    ::threadIdx = t.index;
    running = &t;
    t.polling = false;
    if (t.state == State::fresh) {
        t.state = State::ready;
        give_fiber(t);
    }
    const auto polls = t.polls;
    t.fiber = std::move(t.fiber).resume();
    running = nullptr;
    busy_ = busy_ || t.state != State::ready || t.polls == polls;
    t.busy_turns = t.state == State::ready && t.polls == polls ? t.busy_turns + 1 : 0;
    if (t.state == State::done) {
        --block.alive;
        keep_fiber(t);
        excuse(block, t);
    }
    if (++resumes_ % 1024 == 0) end_if_too_long(block);
}

/// Resumes the lanes of the warp until none can go on. Returns true if any did.
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
        if (!again) again = release_arrived(block, warp) || release_active_mask(block, warp);
    }
    if (any && probe_) probe_->warp_stops(block, warp);
    for (unsigned l = 0; l < lanes; ++l) {
        any = any || block.threads[first + l].paused;
        block.threads[first + l].paused = false;
    }
    return any;
}

void Scheduler::finish(Block& block) {
    ++ended_;
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

double Scheduler::seconds() const {
    return grid_.conditions.time_limit ? time_limit_ : std::round(10 * (processor_seconds() - started_)) / 10;
}

bool Scheduler::takes_too_long() {
    if (!probe_ || grid_.conditions.time_limit) {
        const double now = processor_seconds();
        if (std::exchange(ended_before_, ended_) != ended_) progressed_ = now;
        return now - started_ > time_limit_;
    }
    return probe_->steps() - steps_before_ > grid_.conditions.most_steps || (in_vain_ = waits_in_vain());
}

bool Scheduler::is_too_long_for_sample() {
    return probe_ && grid_.conditions.sample &&
           probe_->steps() - steps_before_ > grid_.conditions.most_steps / part_in_sample;
}

bool Scheduler::waits_in_vain() {
    const auto news = probe_->news(), steps = probe_->steps();
    if (std::exchange(busy_, false) || std::exchange(news_, news) != news) vain_since_ = steps;
    return grid_.conditions.one_in == 1 && steps - vain_since_ > grid_.conditions.most_steps / part_in_vain;
}

void Scheduler::end_if_too_long(const Block& block) {
    if (is_too_long_for_sample())
        fail("it takes too long at full size: block " + text_of(block.index) + " alone is not done after " +
             std::to_string(grid_.conditions.most_steps / part_in_sample / 1'000'000) +
             " million steps of its threads, as if few threads did the work of all");
    else if (takes_too_long())
        fail(still_busy(block));
}

kata::Error Scheduler::still_busy(const Block& block) const {
    // Until shortly before the end, blocks have ended: there are many, and no thread is known to go on for
    // ever.
    const bool of_blocks = (!probe_ || grid_.conditions.time_limit) && ended_ > 0 &&
                           processor_seconds() - progressed_ < time_limit_ / 4;
    auto text = of_blocks ? "" : spinning(block, seconds(), in_vain_, probe_);
    const bool in_a_thread = !text.empty();
    if (!in_a_thread) {
        std::ostringstream said;
        said << "launch too long: it has come to block " << text_of(block.index) << " of a grid of "
             << text_of(uint3(::gridDim)) << " after " << seconds() << " s of processor time";
        text = said.str();
    }
    kata::Error error(text + blocks_for_threads(grid_.launch, probe_));
    error.out_of_time = in_a_thread ? kata::OutOfTime::in_a_thread : kata::OutOfTime::in_all_blocks;
    return error;
}

void Scheduler::fail(const kata::Error& error) {
    if (fault_) return;
    kata::Error in_launch(error.what() + simt::which_launch(grid_.launch, probe_));
    in_launch.out_of_time = error.out_of_time;
    fault_ = std::make_exception_ptr(in_launch);
}

void Scheduler::divided_by_zero(const void* code) {
    const std::string line = probe_ && code ? probe_->line(code) : "";
    stop("an integer is divided by zero" + (line.empty() ? "" : " in " + line) + ", by " +
         name_of(running->index, running_block->index) + ": a GPU goes on with some number");
}

}  // namespace simt
