// Finds the memory that an access is in, and checks and logs the access.
#include "meter/meter.hpp"

#include <algorithm>
#include <bit>
#include <string_view>

namespace meter {

namespace {

bool is_built_in(std::uintptr_t address) {
    const auto in = [address](const auto& v) {
        const auto begin = reinterpret_cast<std::uintptr_t>(&v);
        return simt::Range{begin, begin + sizeof v}.contains(address);
    };
    return in(threadIdx) || in(blockIdx) || in(blockDim) || in(gridDim) || in(simt_dynamic_shared);
}

}  // namespace

void Meter::find_memory() {
    const auto address = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p); };
    arguments_ = {address(grid_.launch.arguments),
                  address(grid_.launch.arguments) + grid_.launch.arguments_bytes};
    constants_ = {address(grid_.launch.constants), address(grid_.launch.constants_end)};
    // Keeps the shadows of buffers that still exist: the epoch makes them new at no cost.
    std::vector<Region> globals;
    for (const auto& a : simt::allocations()) {
        auto old = std::find_if(globals_.begin(), globals_.end(),
                                [&](const Region& r) { return r.serial == a.serial; });
        const auto name = a.origin.empty() ? a.name : a.name + " in " + a.origin;
        // Blocks that are not counted may have written anything.
        Region region{a.range,  Space::global, name,   a.written || sampled_ || only_,
                      a.serial, nullptr,       epoch_, nullptr};
        if (old != globals_.end()) {
            region.shadow = std::move(old->shadow);
            region.words = std::move(old->words);
        }
        region.slots = overlaps_ ? 0 : ~0u;
        for (const auto& part : a.written_parts)
            region.written_parts.push_back({part.begin - a.range.begin, part.end - a.range.begin});
        if (region.shadow) region.mark_written();
        globals.push_back(std::move(region));
    }
    globals_ = std::move(globals);
    if (variables_.range.begin != grid_.image.writable.begin)
        variables_ = {
            grid_.image.writable, Space::global, "a __device__ variable", true, 0, nullptr, 0, nullptr};
    variables_.epoch = epoch_;
    of_device_ = {};
    last_global_ = nullptr;
}

Region* Meter::global_at(std::uintptr_t address) {
    if (last_global_ && last_global_->range.contains(address)) return last_global_;
    last_global_ = variables_.range.contains(address) ? &variables_ : nullptr;
    for (auto& region : globals_)
        if (region.range.contains(address)) last_global_ = &region;
    return last_global_;
}

Region* Meter::find_region(std::uintptr_t address) {
    auto& block = resident();
    for (auto* shared : {&block.static_shared, &block.dynamic_shared})
        if (shared->range.contains(address)) return shared;
    for (auto& region : globals_)
        if (region.range.contains(address)) return &region;
    if (variables_.range.contains(address) && !constants_.contains(address)) return &variables_;
    return nullptr;
}

Region* Meter::region_of(std::uintptr_t address) {
    auto& last = resident().last_region;
    if (!last || !last->range.contains(address)) last = find_region(address);
    return last;
}

Shadow& Meter::shadow_of(Region& region) {
    if (!region.shadow) {
        const bool keeps_written = region.space == Space::global;
        region.shadow = Spare<Shadow>::take(region.range.size(), keeps_written, region.epoch);
        if (!region.shadow) region.shadow.reset(new Shadow(region.range.size(), keeps_written));
        region.mark_written();
    }
    return *region.shadow;
}

void Meter::touch(const void* pointer, std::size_t bytes, Verb verb, const void* code, bool copies) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    if (simt::stacks.contains(address) || arguments_.contains(address)) return;
    if (!counted(*simt::running_block)) return;
    if (asked_.thread) hear_answer();
    const auto what = updates(verb) ? What::atomic : writes(verb) ? What::store : What::load;
    Event event{address, offset_of(code), static_cast<std::uint8_t>(bytes), copies, what, Space::constant};
    if (constants_.contains(address)) {
        if (writes(verb)) refuse(address, bytes, verb, code);
        if (bytes <= 8 && value_at(pointer, bytes) == 0) notice_unfilled(address, bytes, event.code);
        if (overlaps_) footprint_.read.add({address, address + bytes});
        return log(event);
    }
    auto* region = usual_region(event.code, address);
    if (!region) region = region_of(address);
    if (!region) {
        if (is_built_in(address)) return;
        if (grid_.image.all.contains(address)) hold_to_device(address, bytes, verb, code);
        if (!grid_.image.all.contains(address) || writes(verb)) refuse(address, bytes, verb, code);
        return;  // a table that the compiler put among the code
    }
    if (region == &variables_) hold_to_device(address, bytes, verb, code);
    const auto offset = address - region->range.begin;
    if (bytes > region->range.end - address) refuse(address, bytes, verb, code);
    if ((address & (bytes - 1)) != 0)
        simt::give_up("misaligned access: " + here() + " reaches " + std::to_string(bytes) +
                      " bytes at offset " + std::to_string(offset) + " of " + name_of(*region) +
                      ", which is not a multiple of " + std::to_string(bytes) + ", in " + line(event.code) +
                      misaligned_row(offset, bytes, region->range.size()));
    event.space = region->space;
    if (event.code >= reached_by_.size()) reached_by_.resize(event.code + 1);
    reached_by_[event.code] = region;
    in_shared_ += region->space == Space::shared;
    auto& block = resident();
    const auto thread = simt::running->linear;
    const bool global = region->space == Space::global;
    if (!global && reads(verb) && !block.flights.none()) ++block.reads_in_flight[thread];
    if (global && signals(verb) && reads(verb)) {
        event.polls = true;
        event.repeats = polls_again(address, verb, event.code);
        news_ += !event.repeats;
    } else if (polled_ && (global || writes(verb)) && !block.polls.empty()) {
        block.polls[thread].last = false;
    }
    if (overlaps_ && global) {
        auto& kind = updates(verb) || signals(verb) ? footprint_.updated
                     : writes(verb)                 ? footprint_.written
                                                    : footprint_.read;
        kind.add({address, address + bytes});
    }
    const bool may_be_vain = global && verb == Verb::update;
    news_ += writes(verb) && !may_be_vain;
    log(event);
    if (may_be_vain) ask(pointer, bytes);
    look_for_clashes(*region, address, bytes, verb, event.code);
}

void Meter::look_for_clashes(Region& region, std::uintptr_t address, std::size_t bytes, Verb verb,
                             std::uint32_t code) {
    if (!looks_for_races_) return;
    const auto offset = address - region.range.begin;
    const auto slot = simt::running_block->slot;
    const auto thread = simt::running->linear;
    const bool global = region.space == Space::global;
    auto& shadow = shadow_of(region);
    if (global && writes(verb)) clocks_.write(slot, thread);
    if (global && signals(verb) && writes(verb)) clocks_.release(slot, thread, address);
    const auto answer = shadow.access(offset, bytes, verb, code, region.epoch, clocks_, slot, thread);
    if (global && signals(verb) && reads(verb)) clocks_.acquire(slot, thread, address);
    if (answer.unwritten && reads(verb)) {
        // An exchange may be the first write to what the host has left unwritten. It is treated as a
        // read only if it changes nothing.
        if (!updates(verb) || !replaces_ || region.written_parts.empty())
            tell_unwritten(region, address, bytes, code);
        else
            asked_.unwritten = code;
    }
    if (answer.read_only) tell_read_only(region, address, bytes, code, *answer.read_only);
    if (answer.clash) tell_clash(region, address, bytes, verb, code, *answer.clash);
    if (global) return;
    const auto& block = resident();
    if (const auto copy = block.flights.over(address, bytes))
        tell_too_early(region, address, bytes, verb, code, *copy);
    const auto& fixed = block.static_shared.shadow;
    const auto used = 4 * (fixed ? fixed->words_touched : 0) + block.dynamic_shared.range.size();
    if (used > grid_.shared_limit)
        simt::give_up("shared memory over the limit: a block uses more than the " +
                      std::to_string(grid_.shared_limit) + " bytes that it has, in " + line(code));
}

void Meter::read_only(const void* pointer, unsigned bytes, const void* code) {
    if (!looks_for_races_ || !counted(*simt::running_block)) return;
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    auto* region = region_of(address);
    if (!region || region->space != Space::global || bytes > region->range.end - address) return;
    const auto at = offset_of(code);
    if (const auto writer =
            shadow_of(*region).read_only(address - region->range.begin, bytes, at, region->epoch))
        tell_read_only(*region, address, bytes, *writer, at);
}

/// A copy accesses both memories when it begins, and shared memory again when it arrives. Other accesses
/// without an order clash with these.
std::uint64_t Meter::copy_begins(const void* to, const void* from, unsigned bytes, unsigned read,
                                 const char* name, const void* code) {
    if (!counted(*simt::running_block)) return 0;
    const auto address = reinterpret_cast<std::uintptr_t>(to);
    const auto* const target = region_of(address);
    if (!target && !simt::stacks.contains(address)) refuse(address, bytes, Verb::write, code);
    if (!target || target->space != Space::shared)
        simt::give_up(std::string(name) + " copies into shared memory, and " + here() +
                      " gives it another address, in " + line(offset_of(code)));
    // cooperative_groups::memcpy_async may copy from any memory. An address on the stack of another thread is
    // a stray one.
    const auto source = reinterpret_cast<std::uintptr_t>(from);
    const auto stack = reinterpret_cast<std::uintptr_t>(simt::running->stack);
    const auto* const region = region_of(source);
    if (name == std::string_view("__pipeline_memcpy_async") &&
        (simt::Range{stack, stack + simt::stack_bytes}.contains(source) ||
         (region && region->space == Space::shared)))
        simt::give_up(std::string(name) + " copies from global memory, and " + here() + " copies from " +
                      (region ? "shared memory" : "a variable of its own") + ", in " + line(offset_of(code)) +
                      ": use an assignment");
    auto& block = resident();
    block.chains[simt::running->warp()].copies();
    touch(to, bytes, Verb::write, code, true);
    block.flights.start(address, bytes, offset_of(code));
    block.bytes_in_flight += bytes;
    for (unsigned done = 0; done < read;) {  // as wide as a load can be
        const unsigned piece = std::bit_floor(read - done);
        touch(static_cast<const std::byte*>(from) + done, piece, Verb::read, code, true);
        done += piece;
    }
    return done_meanwhile();
}

void Meter::copy_arrives(const simt::Copy& copy) {
    if (!counted(*simt::running_block)) return;
    const auto address = reinterpret_cast<std::uintptr_t>(copy.to);
    const auto code = offset_of(copy.code);
    auto* const region = region_of(address);
    auto& block = resident();
    block.flights.land(address, copy.bytes);
    block.bytes_in_flight -= copy.bytes;
    if (copy.mark == done_meanwhile()) block.chains[simt::running->warp()].waits_for_copy(copy.read);
    if (!looks_for_races_) return;
    const auto answer =
        region->shadow->access(address - region->range.begin, copy.bytes, Verb::write, code, region->epoch,
                               clocks_, simt::running_block->slot, simt::running->linear);
    if (answer.clash) tell_clash(*region, address, copy.bytes, Verb::write, code, *answer.clash);
}

}  // namespace meter
