#include "meter/meter.hpp"

#include "simt/order.hpp"

#include <algorithm>
#include <utility>

namespace meter {

namespace {

std::uint64_t blocks_of(const simt::Grid& grid) {
    return std::uint64_t{grid.grid_dim.x} * grid.grid_dim.y * grid.grid_dim.z;
}

}  // namespace

Meter the_meter;

void Meter::observation_begins(const kata::Conditions& conditions) {
    counts_ = {};
    findings_ = {};
    places_ = {};
    unfilled_ = {};
    only_ = conditions.only_block;
    observing_ = conditions.metered;
    listening_ = false;
    overwrite_ = {};
    looks_for_races_ = !conditions.sample;
}

void Meter::observation_ends(kata::Observation& seen) {
    observing_ = false;
    seen.counts = counts_;
    seen.findings = std::move(findings_.texts);
    seen.race = std::move(findings_.race);
    seen.places = places_.all();
    seen.causes = std::move(findings_.causes);
    seen.line_of = [image = grid_.image](const kata::Place& place) { return line_of(image, place.code); };
}

void Meter::launch_begins(const simt::Grid& grid) {
    if (grid_.image.path != grid.image.path) places_ = {};  // for another module: a step has only one
    grid_ = grid;
    before_launch_ = std::exchange(counts_, {});
    counts_.launches = 1;
    places_.new_launch();
    sampled_ = grid.conditions.one_in > 1 || grid.conditions.sample;
    mixed_ = grid.conditions.order == kata::Order::shuffled && blocks_of(grid) > 1;
    ++epoch_;
    for (auto& resident : residents_) resident.last_region = nullptr;
    barriers_ = in_shared_ = 0;
    reached_by_.clear();
    gave_way_ = let_in_ = 0;
    doubts_.clear();
    doubted_.clear();
    overwrite_ = {};
    repeated_.clear();
    if (!rehearsing_) footprint_ = {};
    overlaps_ = !rehearsing_ && simt::may_overlap(grid.launch.stream);
    find_memory();  // after overlaps_ is set, which decides which plain accesses may take the fast path
    work_of_blocks_.clear();
    longest_ = contention_ = 0;
    polled_ = false;
    asked_ = {};
    if (kata::watcher && !rehearsing_) show_launch();
}

void Meter::launch_ends() {
    listening_ = false;
    settle_overwrite();
    miss_shared_memory();
    for (const auto& lost : repeated_)
        if (value_at(lost.address, lost.bytes) != lost.value) findings_.add(lost.text);
    clocks_.end_launch();
    // If only some blocks have been counted, the counts are scaled to all.
    const double times = sampled_ && counts_.blocks > 0
                             ? static_cast<double>(blocks_of(grid_)) / static_cast<double>(counts_.blocks)
                             : 1;
    if (times != 1) counts_.scale(times);
    contention_ = kata::scaled(contention_, times);
    counts_.span += std::max(longest_, contention_);
    const auto of_busiest = kata::scaled(busiest(std::exchange(work_of_blocks_, {})), times);
    counts_.busiest += of_busiest;
    counts_.makespan += std::max({longest_ * kata::machine::latency, contention_, of_busiest});
    counts_.contention += contention_;
    counts_ += std::exchange(before_launch_, {});
}

bool Meter::only_cleared() const {
    bool any = false;
    const auto clears = [&](const Region& region) {
        if (!region.words || region.written_in != region.epoch) return true;
        for (std::size_t i = 0; i < region.range.size(); i += 4) {
            const auto bytes = std::min<std::size_t>(4, region.range.size() - i);
            if (region.words->written(i, bytes, region.epoch) == 0) continue;
            any = true;
            if (value_at(reinterpret_cast<const void*>(region.range.begin + i), bytes) != 0) return false;
        }
        return true;
    };
    return std::all_of(globals_.begin(), globals_.end(), clears) && clears(variables_) && any;
}

void Meter::block_begins(const simt::Block& block) {
    ++epoch_;
    auto& of_block = resident(block);
    const auto set = [&](Region& region, simt::Range range, const char* name) {
        if (region.range.begin != range.begin || region.range.end != range.end)
            region = {range, Space::shared, name, false, 0, nullptr, 0, nullptr};
        region.epoch = epoch_;
        region.slots = 1u << block.slot;
        if (region.shadow) region.shadow->words_touched = 0;
    };
    set(of_block.static_shared, grid_.image.shared, "shared memory");
    const auto dynamic = reinterpret_cast<std::uintptr_t>(block.dynamic.data());
    set(of_block.dynamic_shared, {dynamic, dynamic + block.dynamic.size()}, "dynamic shared memory");
    of_block.last_region = nullptr;
    of_block.flights.clear();
    clocks_.start_block(block.slot, static_cast<std::uint32_t>(block.linear),
                        static_cast<unsigned>(block.threads.size()));
    if (mixed_) of_block.looks.assign(block.threads.size(), {});
    auto& logs = of_block.logs;
    logs.resize(std::max<std::size_t>(logs.size(), block.warps()));
    for (auto& log : logs) log.clear();
    of_block.chains.assign(block.warps(), {});
    auto& reads = of_block.reads_in_flight;
    reads.resize(std::max(reads.size(), block.threads.size()));
    of_block.barriers_passed = 0;
    of_block.bytes_in_flight = 0;
    of_block.phases.assign(block.warps(), {});
    of_block.held.assign(kata::watcher ? block.warps() : 0, {});
    of_block.polls.assign(polled_ ? block.threads.size() : 0, {});
}

void Meter::block_ends(const simt::Block& block) {
    end_polling(block);
    if (!counted(block)) return;
    auto& chains = resident(block).chains;
    counts_.waited_for += waited_for_copies(chains);
    ++counts_.blocks;
    counts_.threads += block.threads.size();
    std::uint64_t work = 0, of_busiest = 0;
    for (const auto& chain : chains) {
        work += chain.work();
        of_busiest = std::max(of_busiest, chain.work());
        longest_ = std::max(longest_, chain.time());
    }
    counts_.work += work;
    counts_.evened += of_busiest * chains.size();
    work_of_blocks_.push_back(work);
}

void Meter::barrier(const simt::Block& block) {
    auto& of_block = resident(block);
    clocks_.barrier(block.slot);
    ++barriers_;
    if (counted(block)) {
        ++counts_.barriers;
        counts_.bytes_ahead += of_block.bytes_in_flight;
    }
    // The logs of the other warps were read when they came to the barrier.
    read_log(block, simt::running->warp(), ~0u);
    end_polling(block);
    if (counted(block)) counts_.waited_for += waited_for_copies(of_block.chains);
    ++of_block.barriers_passed;
    for (auto& phases : of_block.phases) phases.meet();
    std::uint64_t latest = 0;
    for (const auto& chain : of_block.chains) latest = std::max(latest, chain.time());
    for (auto& chain : of_block.chains) chain.wait_until(latest);
}

void Meter::warp_stops(const simt::Block& block, unsigned warp) {
    std::uint32_t waiting = 0;
    for (unsigned l = 0; l < 32; ++l) {
        const auto i = warp * 32 + l;
        if (i >= block.threads.size() || block.threads[i].state != simt::State::ready) waiting |= 1u << l;
    }
    read_log(block, warp, waiting);
    resident(block).logs[warp].rest();
}

std::string Meter::line(const void* code) const {  // also during launches that are not metered
    const auto image = simt::image_of(code);
    return line_of(image, static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(code) - image.base));
}

std::string Meter::last_line(const simt::Block& block, const simt::Thread& t) const {
    const auto code =
        t.updated ? offset_of(t.updated_in) : residents_[block.slot].logs[t.warp()].last_code(t.lane());
    return code == 0 ? "" : line(code);
}

void Meter::rehearsal_begins() {
    before_rehearsal_ = {counts_, places_, findings_.reported};
    doubts_before_ = std::exchange(doubts_, {});
    rehearsing_ = findings_.muted = true;
}

void Meter::rehearsal_ends(bool different) {
    rehearsing_ = findings_.muted = false;
    std::tie(counts_, places_, findings_.reported) = std::move(before_rehearsal_);
    for (auto& [at, text] : doubts_before_)  // without an order, what is read may be written later
        if (different && !findings_.full() && !findings_.clashes_at(at) && findings_.is_new({at, ""}))
            findings_.add(std::move(text));
}

}  // namespace meter

namespace simt {
Probe* meter() { return &meter::the_meter; }
}  // namespace simt
