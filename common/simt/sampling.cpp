#include "simt/sampling.hpp"

#include "simt/division.hpp"
#include "simt/memory.hpp"
#include "simt/scheduler.hpp"
#include "simt/session.hpp"
#include "simt/text.hpp"
#include "simt/watchdog.hpp"
#include "simt/workers.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace simt {

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
    for (const auto& a : allocations())
        if (!is_of_judge(a)) have_in_common(a.pages);
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
/// enough. Strides by the golden section, which repeats no row of the grid and leaves no large gap, wherever
/// it stops. Then runs the first and the last block, often unlike the others, if the watcher wants them.
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

}  // namespace

void run_once(const Launch& launch, std::byte garbage) {
    session->in_part = session->in_part || is_run_in_part(launch);
    if (session->conditions.sample && listener() && blocks_of(launch) > 0)
        run_some(launch, garbage, *session->conditions.sample);
    else if (session->conditions.one_in > 1 && can_share_out() && listener() && blocks_of(launch) > 0)
        run_shared_out(launch, garbage);
    else
        run_here(launch, garbage);
}

}  // namespace simt
