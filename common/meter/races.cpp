#include "meter/races.hpp"

#include <algorithm>
#include <new>

namespace meter {

void Clocks::start_block(unsigned slot, std::uint32_t block, unsigned threads) {
    auto& s = slots_[slot];
    s.block = block;
    s.barriers = 0;
    s.seen.assign(threads, {});
    s.fenced.assign(threads, std::nullopt);
    s.known.clear();
    for (unsigned t = 0; t < threads; ++t) s.seen[t][t % 32] = 1;
}

void Clocks::synchronise(unsigned slot, unsigned warp, std::uint32_t mask) {
    auto& s = slots_[slot];
    std::array<std::uint32_t, 32> all{};
    const auto first = warp * 32;
    for (unsigned l = 0; l < 32; ++l)
        if (mask >> l & 1)
            for (unsigned k = 0; k < 32; ++k) all[k] = std::max(all[k], s.seen[first + l][k]);
    for (unsigned k = 0; k < 32; ++k) all[k] += mask >> k & 1;  // what a lane does from now on is later
    for (unsigned l = 0; l < 32; ++l)
        if (mask >> l & 1) s.seen[first + l] = all;
}

void Clocks::fence(unsigned slot, unsigned thread) {
    auto& s = slots_[slot];
    auto& clock = s.seen[thread][thread % 32];
    ++clock;
    s.fenced[thread] = Stamp{s.block, static_cast<std::uint16_t>(thread), s.barriers, clock};
}

void Clocks::end_launch() { released_.clear(); }

void Clocks::learn(Slot& slot, const Known& news) {
    auto& about = slot.known[news.stamp.block];
    for (const auto& old : about) {
        const bool covers = old.stamp.barrier > news.stamp.barrier ||
                            (old.stamp.barrier == news.stamp.barrier &&
                             old.stamp.thread == news.stamp.thread && old.stamp.clock >= news.stamp.clock);
        const bool earlier =
            old.barrier < news.barrier || (old.barrier == news.barrier && old.thread == news.thread);
        if (covers && earlier) return;
    }
    about.push_back(news);
}

void Clocks::acquire(unsigned slot, unsigned thread, std::uintptr_t address) {
    const auto found = released_.find(address);
    if (found == released_.end()) return;
    auto& s = slots_[slot];
    for (const auto& stamp : found->second)
        if (stamp.block != s.block) learn(s, {stamp, s.barriers, static_cast<std::uint16_t>(thread)});
}

void Clocks::release(unsigned slot, unsigned thread, std::uintptr_t address) {
    auto& s = slots_[slot];
    if (!s.fenced[thread]) return;
    auto& stamps = released_[address];
    const auto add = [&](const Stamp& stamp) {
        for (auto& old : stamps)
            if (old.block == stamp.block && old.thread == stamp.thread) {
                old = stamp;
                return;
            }
        stamps.push_back(stamp);
    };
    add(*s.fenced[thread]);
    for (const auto& [block, about] : s.known)
        for (const auto& k : about)
            if (k.barrier < s.barriers || k.thread == thread) add(k.stamp);
}

bool Clocks::ordered_by_fences(const Moment& earlier, unsigned slot, unsigned thread) const {
    const auto& s = slots_[slot];
    const auto about = s.known.find(earlier.block);
    if (about == s.known.end()) return false;
    return std::any_of(about->second.begin(), about->second.end(), [&](const Known& k) {
        const bool published = earlier.barrier < k.stamp.barrier ||
                               (earlier.barrier == k.stamp.barrier && earlier.thread == k.stamp.thread &&
                                earlier.clock < k.stamp.clock);
        return published && (s.barriers > k.barrier || thread == k.thread);
    });
}

Shadow::Shadow(std::size_t bytes) : count_((bytes + 3) / 4) {
    // zero pages that are not touched take no memory
    cells_.reset(static_cast<Cell*>(std::calloc(std::max<std::size_t>(count_, 1), sizeof(Cell))));
    if (!cells_) throw std::bad_alloc();
}

Shadow::Answer Shadow::access(std::size_t offset, std::size_t bytes, Verb verb, std::uint32_t code,
                              std::uint32_t epoch, const Clocks& clocks, unsigned slot, unsigned thread) {
    Answer answer;
    auto& clash = answer.clash;
    const Moment now = clocks.now(slot, thread);
    const auto end = offset + bytes;
    for (auto word = offset / 4; word < (end + 3) / 4 && word < count_; ++word) {
        auto& cell = cells_[word];
        if (cell.epoch != epoch) {
            cell = {};
            cell.epoch = epoch;
            ++words_touched;
        }
        const auto from = std::max(offset, word * 4) - word * 4, to = std::min(end, word * 4 + 4) - word * 4;
        const auto mask = static_cast<std::uint8_t>((1u << to) - (1u << from));
        const auto meets = [&](const Record& r) {
            if ((r.bytes & mask) == 0 || clocks.ordered(r.when, slot, thread)) return false;
            if (r.verb == Verb::update && verb == Verb::update) return false;
            return r.when.block == now.block || !signals(r.verb) || !signals(verb);
        };
        for (const auto& w : cell.write)
            if (!clash && meets(w)) clash = w;
        const Record me{now, code, mask, verb};
        answer.unwritten = answer.unwritten || (mask & ~cell.written) != 0;
        if (writes(verb)) {
            for (const auto& r : cell.read)
                if (!clash && meets(r)) clash = r;
            auto& w = cell.write;
            if (!signals(verb))
                w[1] = {};  // whatever it was not ordered behind has just been told
            else if (w[0].when.thread != now.thread || w[0].when.block != now.block)
                w[1] = w[0];
            w[0] = me;
            cell.written |= mask;
        } else {
            auto& r = cell.read;
            const auto same_warp = [&](const Record& other) {
                return other.when.block == now.block && other.when.thread / 32 == now.thread / 32;
            };
            const auto same_thread = [&](const Record& other) {
                return same_warp(other) && other.when.thread == now.thread;
            };
            if (r[0].bytes == 0 || same_thread(r[0]))
                r[0] = me;
            else if (same_warp(r[0])) {
                r[1] = r[0];
                r[0] = me;
            } else {
                r[2] = r[0];
                r[1] = {};
                r[0] = me;
            }
        }
    }
    return answer;
}

}  // namespace meter
