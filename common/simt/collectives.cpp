// Barriers of a block, and exchanges between the lanes of a warp.
#include "buffer.hpp"
#include "simt/matrices.hpp"
#include "simt/scheduler.hpp"
#include "simt/session.hpp"
#include "simt/text.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <string_view>

namespace simt {

namespace {

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

/// Returns the objects whose addresses are the values of 32 lanes.
template <class T>
std::array<const T*, 32> values_of(std::span<const Thread> warp) {
    std::array<const T*, 32> values;
    for (unsigned l = 0; l < 32; ++l) values[l] = reinterpret_cast<const T*>(warp[l].value);
    return values;
}

/// Returns what is wrong with a collective call on matrices; empty if nothing is.
std::string wrong_with_matrix(std::span<const Thread> warp, uint3 block, unsigned present,
                              const Thread& asking) {
    const auto name = std::string(asking.waits_in) + " in " + text_of(asking.site);
    if (warp.size() < 32)
        return name + " takes a whole warp: this one has only " + std::to_string(warp.size()) + " threads";
    if (present != ~0u)
        return name + " takes a whole warp: lane " + std::to_string(std::countr_one(present)) +
               " of this one has left the kernel";
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

/// Describes a shuffle of this thread from a lane that takes no part.
std::string why_undefined(const Block& block, const Thread& t) {
    const auto from = static_cast<unsigned>(t.source) % 32, lanes = block.lanes(t.warp());
    std::string why = ", which has left the kernel without this call", remedy;
    if (from >= lanes)
        why = ", which its warp does not have";
    else if (t.mask >> from & 1)
        remedy =
            "\n  each lane that the mask names must come to the call: does an if around it, or a return "
            "before "
            "it, keep some of them away?";
    else
        why = ", which its mask " + hexadecimal(t.mask) + " does not name" +
              (t.mask == (t.active & ~0u >> (32 - lanes))
                   ? ": that is what __activemask() returned, which need not be all lanes that come here"
                   : "");
    return "undefined value: " + name_of(t.index, block.index) + " calls " + t.waits_in + " in " +
           text_of(t.site) + " for the value of lane " + std::to_string(from) + why +
           "; the result depends on it" + remedy;
}

/// Computes the result of a collective for each lane in `mask`; `undefined` for a shuffle from another lane.
void combine(std::span<Thread> warp, unsigned mask, Collective what, std::uint64_t undefined) {
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
            t.result = mask >> from & 1 ? warp[from].value : undefined;
        } else if (what == Collective::match) {
            each([&](unsigned k) { t.result |= warp[k].value == t.value ? 1u << k : 0u; });
        }
    });
}

}  // namespace

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

/// Called when all threads are at a barrier. It must be the same one: in instrumented kernels the same call,
/// else the same line, because a compiler may have duplicated the call.
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

std::uint32_t Scheduler::arrive(Arrivals& barrier, unsigned count, const char* name, Site site,
                                const void* code) {
    auto& block = *running_block;
    if (probe_) probe_->synchronising(code);
    if (barrier.expected == 0 || count > barrier.missing || barrier.missing > barrier.expected)
        stop(std::string(name) + " in " + text_of(site) + ": " + name_of(running->index, block.index) +
             " is not among the arrivals that this barrier was initialized to expect");
    barrier.missing = static_cast<std::uint16_t>(barrier.missing - count);
    const auto phase = barrier.phase;
    if (barrier.missing > 0) {
        running->state = State::arrived;
        block.in_warps[running->warp()].arrived |= 1u << running->lane();
        leave();
        return phase;
    }
    barrier.missing = barrier.expected;
    for (auto& t : block.threads)
        if (t.state == State::at_arrivals && t.value == reinterpret_cast<std::uintptr_t>(&barrier))
            t.state = State::ready;
    land_copies(block, &barrier);
    ++block.barriers;
    if (probe_) probe_->barrier(block);  // as if all threads had come: some races are not seen
    ++barrier.phase;
    return phase;
}

void Scheduler::await(const Arrivals& barrier, std::uint32_t phase, const char* name, Site site,
                      const void* code) {
    auto& me = *running;
    if (probe_) probe_->synchronising(code);
    me.waits_in = name;
    me.site = site;
    me.code = code;
    me.polls = 0;
    while (static_cast<std::int32_t>(barrier.phase - phase) <= 0) {
        me.value = reinterpret_cast<std::uintptr_t>(&barrier);
        me.state = State::at_arrivals;
        leave();
    }
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
    // A warp that alternates polls and votes still polls, so me.polls is not reset.
    if (probe_ && !warp.same_mask)
        for (const auto& t : std::span(&block.threads[me.warp() * 32], lanes))
            if (t.state == State::at_collective && t.code == code && t.mask != mask &&
                t.mask >> me.lane() & 1)
                me.passed_by = t.mask;
    if (!complete_collective(block, me)) leave();  // the lane that completes the mask computes for all
    return me.result;
}

/// Completes the collective if all lanes that `asking` waits for have come, and returns true then. Lanes that
/// have left the kernel are not waited for, as on a GPU.
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
    constexpr std::uint64_t each_byte = 0x0101010101010101;
    combine(lanes, present, what,
            garbage_ == kata::poison ? undefined_value : each_byte * std::to_integer<unsigned>(garbage_));
    if (probe_ && what == Collective::shuffle)
        for (const auto& t : lanes)
            if (present >> t.lane() & 1 && !(present >> static_cast<unsigned>(t.source) % 32 & 1))
                probe_->undefined(asking.code, [&] {
                    return why_undefined(block, t) + simt::which_launch(grid_.launch, probe_);
                });
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

/// Called when a thread has left the kernel: its warp no longer waits for it.
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

/// Called when no lane of a warp can go on. Returns true if some have only arrived at a barrier.
bool Scheduler::release_arrived(Block& block, unsigned warp) {
    auto& known = block.in_warps[warp];
    const auto lanes = std::exchange(known.arrived, 0);
    for (auto left = lanes; left != 0; left &= left - 1)
        block.threads[warp * 32 + static_cast<unsigned>(std::countr_zero(left))].state = State::ready;
    return lanes != 0;
}

/// Called when no lane of a warp can go on: the lanes that call __activemask() in the same line are active.
bool Scheduler::release_active_mask(Block& block, unsigned warp) {
    const std::span lanes(&block.threads[warp * 32], block.lanes(warp));
    const Thread* asking = nullptr;
    for (const auto& t : lanes) {
        if (t.state == State::ready && !t.polling) return false;  // it has only stopped until its log is read
        if (t.state == State::at_active_mask && !asking) asking = &t;
    }
    if (!asking) return false;
    const Site site = asking->site;
    unsigned mask = 0;
    for (const auto& t : lanes)
        if (t.state == State::at_active_mask && t.site == site) mask |= 1u << t.lane();
    // The hardware chooses which lanes run together. It need not be all that come, neither in a branch nor
    // after one.
    if (grid_.conditions.order == kata::Order::shuffled)
        if (const unsigned some = mask & static_cast<unsigned>(random_()); some != 0) mask = some;
    for (auto& t : lanes)
        if (mask >> t.lane() & 1) {
            t.result = t.active = mask;
            t.state = State::ready;
        }
    return true;
}

}  // namespace simt
