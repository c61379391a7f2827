#include "simt/sampling.hpp"

#include "simt/division.hpp"
#include "simt/memory.hpp"
#include "simt/scheduler.hpp"
#include "simt/search.hpp"
#include "simt/session.hpp"
#include "simt/text.hpp"
#include "simt/watchdog.hpp"
#include "simt/workers.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace simt {

void Scheduler::search(const NextBlock& blocks) {
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
        if (setjmp(out_of_kernel_) != 0)
            running->state = State::done;  // reached when a thread leaves the kernel
        while (searched_ < block.threads.size()) {
            auto& thread = block.threads[searched_++];
            if (!all && thread.warp() > 0 && thread.lane() > 0) continue;
            ::threadIdx = thread.index;
            running = &thread;
            thread.state = State::ready;
            thread.polls = thread.in_toolkit = 0;
            thread.copies.in_flight.clear();
            block.arrived = 0;
            grid_.launch.call(grid_.launch.arguments);
            thread.state = State::done;
        }
        running = nullptr;
        fault_ = nullptr;
    }
}

namespace {

void run_here(const Launch& launch, std::byte garbage, NextBlock blocks = {}) {
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

/// Chooses one block of each group of `one_in`, at a pseudo-random place that no pattern of a grid repeats.
class Sample {
  public:
    Sample(std::uint64_t blocks, std::uint64_t one_in)
        : blocks_(blocks), group_(std::min(one_in, std::max<std::uint64_t>(blocks, 1))) {}
    bool contains(std::uint64_t block) const { return block == member(block / group_); }
    /// Returns the block chosen of a group. In the last group it may lie beyond the grid.
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

/// Counts a sample of the blocks in this process, while other processes run the rest uncounted. Finds races
/// within blocks and between those of the sample only.
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

/// Runs blocks spread over the grid until their threads have taken `enough` steps or the watcher has seen
/// enough. Strides by the golden section, which leaves no large gap whenever that is, and repeats no row of
/// the grid. Then runs the first and the last block, often unlike the others, if the watcher wants them.
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

/// Returns the number of blocks to search: the ends of the grid if a search of all would not end in time.
std::uint64_t blocks_searched(const Launch& launch) {
    constexpr std::uint64_t most_threads = std::uint64_t{1} << 30, threads_at_ends = std::uint64_t{1} << 27;
    const auto blocks = blocks_of(launch), threads = threads_of(launch);
    return threads <= most_threads ? blocks : threads_at_ends / (threads / blocks);
}

/// Runs the first four blocks, the last four, and those that access an end of a large buffer. If a launch has
/// a block or two too many, the last four still contain one that has work.
void run_reaching(const Launch& launch, std::byte garbage) {
    const auto blocks = blocks_of(launch), looked_at = blocks_searched(launch);
    const auto of_grid = [=](std::uint64_t i) { return i < looked_at / 2 ? i : blocks - looked_at + i; };
    const auto found = search_blocks(looked_at, [&](const NextBlock& searched) {
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

}  // namespace

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

}  // namespace simt
