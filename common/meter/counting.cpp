// Counts what the lanes of a warp did, as the warp would have executed it, and shows it to the watcher.
#include "meter/meter.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace meter {

namespace {

std::uint64_t passes_of(const kata::Counts& c) {
    return c.shared_load.transactions + c.shared_store.transactions + c.shared_atomic.transactions;
}

/// Counts whether the addresses of neighboring lanes are as far apart as in the requests before.
void compare_distances(Group group, kata::Place& here) {
    const auto with = [&](std::int64_t distance) {
        std::size_t lanes = 1;
        for (std::size_t i = 1; i < group.size(); ++i)
            lanes += group[i]->lane == group[i - 1]->lane + 1 &&
                     static_cast<std::int64_t>(group[i]->address - group[i - 1]->address) == distance;
        return 4 * lanes >= 3 * group.size();
    };
    if (group.size() < 2) return;
    const auto first = static_cast<std::int64_t>(group[1]->address - group[0]->address);
    if (here.requests_with_distance == 0 && with(first)) here.distance = first;
    if (here.distance != 0) here.requests_with_distance += with(here.distance);
}

}  // namespace

void Meter::read_log(const simt::Block& block, unsigned warp, std::uint32_t waiting) {
    auto& counts = counted(block) ? counts_ : elsewhere_;
    auto& chain = resident(block).chains[warp];
    const bool watched = kata::watcher && !rehearsing_ && counted(block);
    resident(block).logs[warp].read(
        waiting,
        [&](Group group) {
            const auto begins = chain.time();
            const auto thread = (block.linear * 32 + warp) * 32 + group.front()->lane;
            const auto taken = take(group, thread, chain, counts);
            if (watched) show(block, warp, group, taken, begins);
        },
        [&](std::uint32_t code, unsigned lanes) {
            if (chain.polling() || watched) return false;
            counts.lane_basic_blocks += lanes;
            ++counts.basic_blocks;
            ++places_.at(code).steps;
            chain.enters_basic_block();
            chain.step(1);
            return true;
        });
}

void Meter::exchanged(const simt::Block& block, unsigned warp, unsigned lanes, const void* code) {
    const auto present = ~0u >> (32 - block.lanes(warp)) & ~block.in_warps[warp].gone;
    if (!counted(block) || !resident(block).phases[warp].exchange(lanes, present, offset_of(code))) return;
    ++counts_.exchanges;
    ++places_.at(offset_of(code)).exchanges;
}

void Meter::end_polling(const simt::Block& block) {
    kata::Counts elsewhere;
    for (unsigned warp = 0; warp < resident(block).chains.size(); ++warp) {
        auto& chain = resident(block).chains[warp];
        if (kata::watcher && !rehearsing_ && counted(block)) show_held(block, warp, chain.time());
        chain.end_polling(counted(block) ? counts_ : elsewhere);
    }
}

Meter::Taken Meter::take(Group group, std::uint64_t thread, Chain& chain, kata::Counts& counts) {
    const auto& first = *group.front();
    if (chain.polling()) {
        if (chain.round(group, account)) return Taken::perhaps_later;
        if (chain.next_round(group)) {
            kata::Counts vain;
            chain.wait_until(written_to(group) + account(group, vain));
            return Taken::no;
        }
        chain.end_polling(counts);
    }
    const auto lines = counts.lines, passes = passes_of(counts), conflicts = counts.bank_conflicts,
               loaded = counts.global_load.transactions, stored = counts.global_store.transactions;
    const auto steps = account(group, counts);
    auto& here = places_.at(first.code);
    here.steps += steps;
    if (first.what != What::basic_block) {
        ++here.requests;
        here.bytes = first.bytes;
        here.again += !first.polls && places_.again(first.code, thread, first.address);
        const auto least = (group.size() * first.bytes + 127) / 128;
        if (counts.bank_conflicts > conflicts || counts.lines > lines + least + 1)
            compare_distances(group, here);
    }
    if (first.space == Space::shared) here.passes += passes_of(counts) - passes;
    here.conflicts += counts.bank_conflicts - conflicts;
    if (first.space != Space::global) {
        if (first.space == Space::shared && first.what != What::store)
            chain.reads_shared();
        else if (first.space == Space::shared && !first.copies)
            counts.waited_for += chain.stores_shared(group.size() * first.bytes);
        else if (first.what == What::basic_block)
            chain.enters_basic_block();
        chain.step(steps);
        return Taken::now;
    }
    here.lines += counts.lines - lines;
    here.sectors_loaded += counts.global_load.transactions - loaded;
    here.sectors_stored += counts.global_store.transactions - stored;
    if (first.what == What::store) ++here.stores;
    if (first.what == What::atomic) here.atomics += group.size();
    if (first.what == What::load && !first.copies)
        counts.waited_for += chain.loads(group.size() * first.bytes);
    chain.wait_until(written_to(group));
    chain.step(steps);
    if (first.polls) chain.begin_polling(group);
    if (first.what != What::load) write(group, chain.time(), &counts == &counts_, here);
    return Taken::now;
}

std::uint64_t Meter::written_to(Group group) {
    std::uint64_t latest = 0;
    const Region* region = nullptr;
    for (const auto* e : group) {
        if (e->what != What::load && !e->only_reads) continue;
        if (!region || !region->range.contains(e->address)) region = global_at(e->address);
        if (region && region->words && region->written_in == region->epoch)
            latest = std::max(
                latest, region->words->written(e->address - region->range.begin, e->bytes, region->epoch));
    }
    return latest;
}

void Meter::write(Group group, std::uint64_t time, bool counted, kata::Place& here) {
    constexpr std::size_t most_bytes = std::size_t{64} << 20;  // more than flags and counters take
    Region* region = nullptr;
    for (const auto* e : group) {
        if (!region || !region->range.contains(e->address)) region = global_at(e->address);
        if (!region || (!looks_for_races_ && region->range.size() > most_bytes)) continue;
        if (!region->words) region->words = Spare<Words>::take(region->range.size());
        if (!region->words) region->words.reset(new Words(region->range.size()));
        const auto offset = e->address - region->range.begin;
        if (!e->only_reads) {
            region->written_in = region->epoch;
            region->words->write(offset, e->bytes, region->epoch, time);
        }
        if (e->what != What::atomic) continue;
        const auto atomics = region->words->update(offset, region->epoch);
        here.words += atomics == 1;
        if (counted) contention_ = std::max(contention_, atomics);
        here.on_one_word = std::max(here.on_one_word, atomics);
    }
}

kata::Array Meter::array_at(std::uintptr_t address) {
    const auto as_array = [](const std::string& name, const simt::Range& range) {
        return kata::Array{name, range.begin, range.size()};
    };
    if (grid_.image.shared.contains(address) || variables_.range.contains(address) ||
        constants_.contains(address))
        if (const auto variable = simt::variable_at(grid_.image, address);
            variable && variable->range.contains(address))
            return as_array(variable->name, variable->range);
    for (const auto& resident : residents_)
        for (const auto* shared : {&resident.static_shared, &resident.dynamic_shared})
            if (shared->range.contains(address)) return as_array(shared->name, shared->range);
    const auto* region = global_at(address);
    return region ? as_array(region->name, region->range) : as_array("", {address, address});
}

void Meter::show_launch() {
    const auto extent = [](const dim3& d) { return std::array{d.x, d.y, d.z}; };
    kata::watcher->launch_begins(
        {extent(grid_.grid_dim), extent(grid_.block_dim),
         [this](std::uintptr_t address) { return array_at(address); },
         [image = grid_.image](std::span<const std::uint32_t> codes) { return lines_of(image, codes); },
         [image = grid_.image](const std::string& file) { return source_of(image, file); }});
}

void Meter::show(const simt::Block& block, unsigned warp, Group group, Taken taken, std::uint64_t begins) {
    auto& held = resident(block).held[warp];
    if (taken == Taken::no) return held.clear();
    constexpr const char *did[] = {"runs", "load", "store", "atomic"},
                         *memory[] = {"", "global", "shared", "constant"};
    const auto& first = *group.front();
    kata::Request request{.code = first.code,
                          .did = did[static_cast<unsigned>(first.what)],
                          .memory = memory[static_cast<unsigned>(first.space)],
                          .block = block.linear,
                          .warp = warp,
                          .barriers = resident(block).barriers_passed,
                          .bytes = first.bytes};
    request.steps = account(group, request.counts);
    for (const auto* e : group) {
        request.lanes |= 1u << e->lane;
        request.addresses[e->lane] = e->address;
    }
    if (taken == Taken::perhaps_later) return held.push_back(request);
    request.begins = show_held(block, warp, begins);
    request.ends = resident(block).chains[warp].time();
    kata::watcher->request(request);
}

std::uint64_t Meter::show_held(const simt::Block& block, unsigned warp, std::uint64_t begins) {
    for (auto& request : std::exchange(resident(block).held[warp], {})) {
        request.begins = begins;
        request.ends = begins += request.steps;
        kata::watcher->request(request);
    }
    return begins;
}

}  // namespace meter
