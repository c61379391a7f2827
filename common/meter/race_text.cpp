// The texts of races.
#include "meter/meter.hpp"

#include <algorithm>

namespace meter {

Meter::Position Meter::position_of(const Record& r) const {
    const auto thread = r.warp * 32u + r.first_lane();
    const auto& b = grid_.block_dim;
    const auto& g = grid_.grid_dim;
    return {{thread % b.x, thread / b.x % b.y, thread / b.x / b.y},
            {r.block % g.x, r.block / g.x % g.y, r.block / g.x / g.y}};
}

void Meter::tell_clash(const Region& region, std::uintptr_t address, std::size_t bytes, Verb verb,
                       std::uint32_t code, const Record& clash) {
    if (findings_.full()) return;
    const auto mine = line(code), other = line(clash.code);
    if (!findings_.is_new(std::minmax(mine, other))) return;
    const auto [other_thread, other_block] = position_of(clash);
    if (region.serial != 0 && findings_.texts.empty() && !findings_.muted)
        findings_.race = {before_launch_.launches,
                          array_at(address).name,
                          {{{clash.block, clash.warp * 32u + clash.first_lane()},
                            {simt::running_block->linear, simt::running->linear}}}};
    const auto did = [](Verb v) {
        return std::string(updates(v)  ? " updates"
                           : writes(v) ? " writes"
                                       : " reads") +
               (is_atomic(v) ? " atomically in " : " in ");
    };
    findings_.add("race in " + std::string(region.serial != 0 ? "global memory " : "") +
                  text_of(region, address, bytes) + ": nothing orders\n  " +
                  simt::name_of(other_thread, other_block) + did(clash.verb()) + other + "\n  " + here() +
                  did(verb) + mine + "\n  " + advice(region, address, bytes, verb, code, clash));
}

/// Returns ", as \"width\" says" if exactly one parameter of the kernel has this value, else nothing.
std::string Meter::named_number(std::uint64_t number) const {
    const auto names = parameters();
    std::string found;
    for (std::size_t i = 0; i < std::min(names.size(), grid_.launch.parameters); ++i) {
        if (grid_.launch.numbers[i] != static_cast<long long>(number)) continue;
        if (!found.empty()) return "";
        found = ", as \"" + names[i] + "\" says";
    }
    return found;
}

/// Explains why the same instruction of two threads stores to the same element, if their stores show it.
std::optional<std::string> Meter::why_same_index(const Region& region, std::uintptr_t address,
                                                 std::size_t bytes, std::uint32_t code,
                                                 const Record& clash) const {
    const auto index = (address - region.range.begin) / bytes;
    const auto who = "two threads store to index " + std::to_string(index);
    // Column and row as a thread usually computes them.
    struct Pixel {
        std::uint64_t x, y;
        std::string text() const { return "x = " + std::to_string(x) + ", y = " + std::to_string(y); }
    };
    const auto pixel_of = [&](uint3 block, uint3 thread) {
        return Pixel{std::uint64_t{block.x} * grid_.block_dim.x + thread.x,
                     std::uint64_t{block.y} * grid_.block_dim.y + thread.y};
    };
    const auto [thread, block] = position_of(clash);
    auto upper = pixel_of(simt::running_block->index, simt::running->index), lower = pixel_of(block, thread);
    if (upper.y > lower.y) std::swap(upper, lower);
    if (region.space == Space::global && upper.y < lower.y && upper.x > lower.x) {
        const auto row = (upper.x - lower.x) / (lower.y - upper.y);
        if (upper.y * row + upper.x == index && lower.y * row + lower.x == index && upper.x >= row)
            return who + ", at " + upper.text() + " and at " + lower.text() +
                   ", which is one place where a row has " + std::to_string(row) + " elements" +
                   named_number(row) +
                   ". If rows are longer, the index must use their length. If not, the guard must compare x "
                   "and y each with its own limit, not the index with the number of elements";
    }
    if (clash.block != simt::running_block->linear || !region.shadow) return std::nullopt;
    const auto first = (address - region.range.begin) / 4,
               last = (address + bytes - 1 - region.range.begin) / 4;
    const auto theirs = region.shadow->written_beside(first, last, clash, code, region.epoch);
    const auto mine = region.shadow->written_beside(
        first, last, clocks_.now(simt::running_block->slot, simt::running->linear), code, region.epoch);
    if (!theirs.before && !mine.before && !mine.behind) return std::nullopt;
    return who +
           ", and each stores to several in this line: their ranges overlap. Is the thread's part of the "
           "index multiplied by the number of results of a thread, and does the loop end there?";
}

/// Returns what to do about a race.
std::string Meter::advice(const Region& region, std::uintptr_t address, std::size_t bytes, Verb verb,
                          std::uint32_t code, const Record& clash) const {
    const bool same_block = clash.block == simt::running_block->linear;
    const bool same_warp = same_block && clash.warp == simt::running->warp();
    const bool plain = !is_atomic(verb) && !is_atomic(clash.verb());
    const bool both_store = verb == Verb::write && clash.verb() == Verb::write;
    const auto what = text_of(region, address, bytes);
    const auto place = what.rfind(", element ");
    const auto index = place == std::string::npos ? "the same place" : "index " + what.substr(place + 10);
    if (clash.code == code && both_store)
        if (const auto why = why_same_index(region, address, bytes, code, clash)) return *why;
    if (clash.code == code && both_store)
        return "two threads store to " + index + ": " +
               (same_block
                    ? "is threadIdx missing from the index, or should only one of them store?"
                    : "is blockIdx missing from the index, or blockDim that multiplies it, does a loop "
                      "run on into the next block's part, or should only one block store?");
    if (both_store && region.space == Space::global)
        return "two threads store to " + index +
               ": which of them should? Look at the index, and at where loops begin and end, in both lines" +
               (same_block ? "; if both should, a __syncthreads() between them says which comes last" : "");
    if (plain && line(clash.code) == line(code) && !same_block)
        return "threads of two blocks reach " + index +
               " in the same line: if each should have its own, is blockIdx in the index, multiplied by the "
               "number of elements that a block works on? If they share it, use an atomic";
    // Within a condition that only some warps meet, a barrier of the block would be divergent.
    const std::string of_warp = same_warp ? " (__syncwarp(), if only the warp shares it)" : "",
                      barrier = "__syncthreads()" + of_warp;
    if (same_block && plain && line(clash.code) == line(code))
        return "should both reach " + index +
               "? If not, look at the index, and at whether both should take part. If so, use an atomic" +
               (both_store ? ""
                           : ", or, where a thread needs the value from before, load it into a variable, and "
                             "store after a " +
                                 barrier + "; if they do so in different rounds of a loop, a " + barrier +
                                 " belongs between the rounds");
    if (same_block)
        return std::string(region.space == Space::global
                               ? "should both reach " + index + "? If not, look at the index. If so, is"
                               : "is") +
               " a __syncthreads() missing between them" + of_warp + ", or must it be an atomic?";
    if ((is_atomic(verb) && !signals(verb)) || (is_atomic(clash.verb()) && !signals(clash.verb())))
        return "an atomic of the block is atomic for its own threads only: give it the scope of the device, "
               "or drop _block from its name";
    const auto is_plain_read_of = [](Verb one, Verb two) {
        return one == Verb::read && signals(two) && writes(two);
    };
    if (is_plain_read_of(verb, clash.verb()) || is_plain_read_of(clash.verb(), verb))
        return "the write is atomic or volatile, and the read is neither: if " + index +
               " is a flag that one block sets and others wait for, the read must be, too, with a "
               "__threadfence() on both sides; if it is a result of all blocks, read it in a later launch";
    return "should both blocks reach " + index +
           "? If not, look at the index. If so, they run in any order: what must be done before all of them "
           "belongs before the launch; otherwise use an atomic, or one as a flag with a __threadfence() on "
           "both sides";
}

}  // namespace meter
