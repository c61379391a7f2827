#include "simt/diagnose.hpp"

#include "simt/grid.hpp"
#include "simt/session.hpp"
#include "simt/text.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

namespace simt {

namespace {

std::string plural(std::size_t count, const char* noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

std::string why_stuck(const Block& block, const Probe* probe) {
    struct Group {
        unsigned threads = 0;
        const Thread* first = nullptr;
    };
    // Several calls in one line, or in one helper, are groups of their own.
    std::map<std::pair<std::string, const void*>, Group> groups;
    bool left = false, barrier = false, collective = false, looped = false;
    for (const auto& t : block.threads)
        looped = looped || (t.state == State::at_barrier &&
                            std::any_of(block.threads.begin(), block.threads.end(), [&](const Thread& other) {
                                return other.state == State::done && other.site == t.site;
                            }));
    for (const auto& t : block.threads) {
        std::string what = "left the kernel";
        const void* code = nullptr;
        left = left || t.state == State::done;
        if (t.state != State::done) {
            code = probe ? t.code : nullptr;
            what = "wait at " + std::string(t.waits_in) + " in " + text_of(t.site);
            if (code) what += probe->callers(code);
            barrier = barrier || t.state == State::at_barrier;
            collective = collective || t.state == State::at_collective;
        }
        auto& g = groups[{what, code}];
        if (g.threads++ == 0) g.first = &t;
    }
    std::string text = barrier && !collective ? "divergent barrier: " : "deadlock: ";
    text += "the threads of block " + text_of(block.index) + " do not all come to the same ";
    text += barrier && !collective ? "__syncthreads" : "place";
    std::string last;
    for (const auto& [where, group] : groups) {
        text += "\n  " + plural(group.threads, "thread") + ", first " + text_of(group.first->index) + ", " +
                where.first + (where.first == last ? ", at another call" : "");
        last = where.first;
    }
    if (barrier && !collective) {
        // CUDA defines the barrier for all threads of the block. That newer GPUs wait only for threads that
        // have not exited is a property of the hardware, and shows only where such a kernel is run.
        text +=
            looped ? "\n  threads that have left were at this barrier before: its loop must have the same "
                     "number of rounds for each thread; put only the work in an if, or the barrier after the "
                     "loop"
            : left
                ? "\n  all threads of a block must come to its barriers: in place of a return before the "
                  "barrier, put the work in an if, and the barrier after it; one that stands in an if "
                  "itself belongs after that if"
                  "\n  (GPUs since Volta go on without threads that have left; older ones may wait forever)"
                : "\n  all threads of a block must come to the same barrier: put the work in the if, and one "
                  "barrier after it";
    }
    for (const auto& t : block.threads) {
        if (t.state != State::at_collective) continue;
        std::string absent;
        const unsigned first = t.warp() * 32;
        unsigned count = 0;
        for (unsigned l = 0; l < 32 && first + l < block.threads.size(); ++l) {
            const auto& other = block.threads[first + l];
            if (!(t.mask >> l & 1) || (other.state == State::done && other.passed_by != t.mask) ||
                (other.state == State::at_collective && other.mask == t.mask &&
                 other.collective == t.collective))
                continue;
            if (++count <= 8) absent += (absent.empty() ? "" : ", ") + std::to_string(l);
        }
        if (count > 8) absent += ", …";
        text += "\n  the mask " + hexadecimal(t.mask) + " of " + t.waits_in + " names " +
                plural(count, "lane") + " that did not come: " + absent;
        break;
    }
    return text;
}

std::string spinning(const Block& block, double seconds, bool in_vain, const Probe* probe) {
    constexpr unsigned many_turns = 64;  // more than a thread needs to return to a poll or a vote
    const Thread* polls = nullptr;
    const Thread* votes = nullptr;  // a thread that has polled and now votes
    const Thread* busy = running;
    bool loops = false;  // the busy thread is in a loop
    for (const auto& t : block.threads) {
        if (running) break;
        const bool has_polled = t.polls > polls_per_turn && !t.changes;
        if (t.state == State::ready && has_polled && t.busy_turns <= many_turns) {
            polls = &t;
        } else if (t.state == State::at_collective && has_polled) {
            votes = &t;
        } else if (t.state == State::ready && !loops) {
            busy = &t;
            loops = t.busy_turns > many_turns;
        }
    }
    // Lanes that have polled wait in a vote for lanes of their warp that have nothing to poll.
    if (!polls && !loops) polls = votes;
    char text[64];
    std::snprintf(text, sizeof text, " after %g s of processor time", seconds);
    const std::string after = text;
    const auto where = [&](const Thread& t) {
        const auto line = probe ? probe->last_line(block, t) : "";
        return line.empty() ? "" : ", in " + line;
    };
    if (polls) {
        const bool only_block = std::uint64_t{gridDim.x} * gridDim.y * gridDim.z == 1;
        return (in_vain ? "endless wait: " : "perhaps endless: ") + name_of(polls->index, block.index) +
               " still polls memory" + after + where(*polls) +
               (only_block ? "; does another thread write what it waits for?"
                           : "; does it wait for a block that has not started, or for its own?");
    }
    if (busy)
        return "perhaps endless: " + name_of(busy->index, block.index) + " still runs" + after +
               where(*busy) + "; does its loop end for every thread, or has it far too many rounds?";
    return "";
}

std::string which_launch(const Launch& launch, const Probe* probe) {
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
                   " says: the first argument of <<< is the number of blocks, not of threads";
    return "";
}

}  // namespace simt
