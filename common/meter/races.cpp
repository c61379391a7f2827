#include "meter/races.hpp"

#include <algorithm>
#include <bit>
#include <new>

namespace meter {

namespace {

bool conflict(Verb a, Verb b, bool same_block) {
    if (!writes(a) && !writes(b)) return false;
    if (a == Verb::update && b == Verb::update) return false;
    return same_block || !signals(a) || !signals(b);
}

/// Whether everything that conflicts with `other` conflicts with `verb`, too.
bool stands_for(Verb verb, Verb other) {
    if (verb == other || verb == Verb::write) return true;
    if (verb == Verb::volatile_write) return other == Verb::update || other == Verb::volatile_read;
    return verb == Verb::read && other == Verb::volatile_read;
}

/// Whether two records stand for `me`: whoever comes later and clashes with me clashes with one of them,
/// being of another warp than the one or the other between two barriers, or of another block than the one or
/// the other. The latter holds for signals only once their own block is `past` them: other blocks may not
/// mind what it does.
bool stood_for(std::span<const Record> records, const Record& me, bool past) {
    const Record* in_block = nullptr;
    const Record* any = nullptr;
    for (const auto& r : records) {
        if (&r == &me || (me.bytes & ~r.bytes) != 0 || !stands_for(r.verb, me.verb)) continue;
        if (past || !signals(r.verb)) {
            if (any && any->block != r.block) return true;
            any = &r;
        }
        if (r.block != me.block || r.barrier != me.barrier) continue;
        if (in_block && in_block->warp != r.warp) return true;
        in_block = &r;
    }
    return false;
}

}  // namespace

void Clocks::start_block(unsigned slot, std::uint32_t block, unsigned threads) {
    auto& s = slots_[slot];
    s.block = block;
    s.barriers = 0;
    s.clocks.assign((threads + 31) / 32, 1);
    s.seen.assign(threads, {});
    s.fenced.assign(threads, std::nullopt);
    s.unfenced.assign(threads, false);
    s.unfenced_count = 0;
    s.any_fence = false;
    s.fenced_by_all.reset();
    s.known.clear();
}

void Clocks::barrier(unsigned slot) {
    auto& s = slots_[slot];
    ++s.barriers;
    if (s.any_fence && s.unfenced_count == 0) s.fenced_by_all = Stamp{s.barriers, 0, no_thread};
    s.any_fence = false;
}

void Clocks::synchronise(unsigned slot, unsigned warp, std::uint32_t mask) {
    auto& s = slots_[slot];
    const auto clock = ++s.clocks[warp];
    std::array<std::uint32_t, 32> all{};
    const auto first = warp * 32;
    for (unsigned l = 0; l < 32; ++l)
        if (mask >> l & 1)
            for (unsigned k = 0; k < 32; ++k) all[k] = std::max(all[k], s.seen[first + l][k]);
    for (unsigned k = 0; k < 32; ++k)
        if (mask >> k & 1) all[k] = clock;
    for (unsigned l = 0; l < 32; ++l)
        if (mask >> l & 1) s.seen[first + l] = all;
}

void Clocks::fence(unsigned slot, unsigned thread) {
    auto& s = slots_[slot];
    s.fenced[thread] = Stamp{s.barriers, ++s.clocks[thread / 32], thread};
    s.any_fence = true;
    s.unfenced_count -= s.unfenced[thread];
    s.unfenced[thread] = false;
}

void Clocks::end_launch() { released_.clear(); }

std::uint32_t Clocks::unseen(const Record& earlier, unsigned slot, unsigned thread) const {
    const auto& s = slots_[slot];
    if (earlier.block != s.block) return s.known.empty() ? earlier.lanes : unseen_across(earlier, s, thread);
    if (earlier.barrier != s.barriers) return 0;
    if (earlier.warp != thread / 32) return earlier.lanes;
    auto lanes = earlier.lanes & ~(1u << thread % 32);
    if (earlier.clock == s.clocks[earlier.warp]) return lanes;  // nothing has synchronised since
    for (auto left = lanes; left != 0; left &= left - 1) {
        const auto lane = std::countr_zero(left);
        if (s.seen[thread][lane] > earlier.clock) lanes &= ~(1u << lane);
    }
    return lanes;
}

std::uint32_t Clocks::unseen_across(const Record& earlier, const Slot& s, unsigned thread) const {
    const auto about = s.known.find(earlier.block);
    if (about == s.known.end()) return earlier.lanes;
    auto lanes = earlier.lanes;
    for (const auto& k : about->second) {
        if (s.barriers <= k.barrier && thread != k.thread) continue;
        if (earlier.barrier < k.stamp.barrier) return 0;
        if (earlier.barrier == k.stamp.barrier && earlier.warp == k.stamp.thread / 32 &&
            earlier.clock < k.stamp.clock)
            lanes &= ~(1u << k.stamp.thread % 32);
    }
    return lanes;
}

void Clocks::write(unsigned slot, unsigned thread) {
    auto& s = slots_[slot];
    s.unfenced_count += !s.unfenced[thread];
    s.unfenced[thread] = true;
}

void Clocks::acquire(unsigned slot, unsigned thread, std::uintptr_t address) {
    const auto found = released_.find(address);
    if (found == released_.end()) return;
    auto& s = slots_[slot];
    for (const auto& [block, stamps] : found->second) {
        if (block == s.block) continue;
        auto& about = s.known[block];
        for (const auto& stamp : stamps)
            if (std::none_of(about.begin(), about.end(), [&](const Known& k) {
                    return k.stamp.covers(stamp) && (k.barrier < s.barriers || k.thread == thread);
                }))
                about.push_back({stamp, s.barriers, thread});
    }
}

void Clocks::release(unsigned slot, unsigned thread, std::uintptr_t address) {
    auto& s = slots_[slot];
    if (!s.fenced[thread] && !s.fenced_by_all) return;
    auto& released = released_[address];
    const auto add = [&](std::uint32_t block, const Stamp& stamp) {
        auto& stamps = released[block];
        for (const auto& old : stamps)
            if (old.covers(stamp)) return;
        std::erase_if(stamps, [&](const Stamp& old) { return stamp.covers(old); });
        stamps.push_back(stamp);
    };
    if (s.fenced[thread]) add(s.block, *s.fenced[thread]);
    if (s.fenced_by_all) add(s.block, *s.fenced_by_all);
    for (const auto& [block, about] : s.known)
        for (const auto& k : about)
            if (k.barrier < s.barriers || k.thread == thread) add(block, k.stamp);
}

Shadow::Shadow(std::size_t bytes, bool keeps_written)
    : count_((bytes + 3) / 4), keeps_written_(keeps_written) {
    // zero pages that are not touched take no memory
    cells_.reset(static_cast<Cell*>(std::calloc(std::max<std::size_t>(count_, 1), sizeof(Cell))));
    if (!cells_) throw std::bad_alloc();
}

std::span<Record> Shadow::records(Cell& cell) {
    if (cell.more != 0) return more_[cell.more - 1];
    return {cell.records.data(), cell.count};
}

void Shadow::remove(Cell& cell, std::size_t index) {
    const auto all = records(cell);
    all[index] = all.back();
    if (cell.more != 0)
        more_[cell.more - 1].pop_back();
    else
        --cell.count;
}

void Shadow::remember(Cell& cell, const Record& record, const Clocks& clocks) {
    if (cell.count == cell.records.size())
        for (std::size_t i = 0; i < records(cell).size();) {
            const auto all = records(cell);
            if (stood_for(all, all[i], clocks.past(all[i])))
                remove(cell, i);
            else
                ++i;
        }
    if (cell.more == 0 && cell.count == cell.records.size()) {
        more_.emplace_back(cell.records.begin(), cell.records.end());
        cell.more = static_cast<std::uint32_t>(more_.size());
    }
    if (cell.more != 0)
        more_[cell.more - 1].push_back(record);
    else
        cell.records[cell.count++] = record;
}

Shadow::Answer Shadow::access(std::size_t offset, std::size_t bytes, Verb verb, std::uint32_t code,
                              std::uint32_t epoch, const Clocks& clocks, unsigned slot, unsigned thread) {
    Answer answer;
    auto me = clocks.now(slot, thread);
    me.code = code;
    me.verb = verb;
    const auto end = offset + bytes;
    for (auto word = offset / 4; word < (end + 3) / 4 && word < count_; ++word) {
        auto& cell = cells_[word];
        if (cell.epoch != epoch) {
            if (cell.more != 0)
                more_[cell.more - 1].clear();
            else
                cell.count = 0;
            if (!keeps_written_) cell.written = 0;
            cell.epoch = epoch;
            ++words_touched;
        }
        const auto from = std::max(offset, word * 4) - word * 4, to = std::min(end, word * 4 + 4) - word * 4;
        me.bytes = static_cast<std::uint8_t>((1u << to) - (1u << from));
        answer.unwritten = answer.unwritten || (me.bytes & ~cell.written) != 0;
        if (writes(verb)) cell.written |= me.bytes;

        auto all = records(cell);
        for (std::size_t i = 0; i < all.size();) {
            auto& r = all[i];
            const bool clashes = (r.bytes & me.bytes) != 0 && conflict(verb, r.verb, r.block == me.block);
            const bool replaced = (r.bytes & ~me.bytes) == 0 && stands_for(verb, r.verb);
            if (clashes || replaced) {
                const auto unseen = clocks.unseen(r, slot, thread);
                if (clashes && unseen != 0 && !answer.clash) {
                    answer.clash = r;
                    answer.clash->lanes = unseen;
                }
                r.lanes = replaced && clashes ? 0
                          : replaced          ? unseen
                                              : r.lanes & ~unseen;  // a clash has been told
            }
            if (r.lanes == 0) {
                remove(cell, i);
                all = records(cell);
            } else {
                ++i;
            }
        }
        auto same = me;
        const auto beside = std::find_if(all.begin(), all.end(), [&](const Record& r) {
            same.lanes = r.lanes;
            return r == same;
        });
        if (beside != all.end())
            beside->lanes |= me.lanes;
        else if (!stood_for(all, me, false))
            remember(cell, me, clocks);
    }
    return answer;
}

}  // namespace meter
