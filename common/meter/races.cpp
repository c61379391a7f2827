#include "meter/races.hpp"

#include "simt/block.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace meter {

namespace {

constexpr bool conflict(Verb a, Verb b, bool same_block) {
    if (!writes(a) && !writes(b)) return false;
    return same_block ? !is_atomic(a) || !is_atomic(b) : !signals(a) || !signals(b);
}

/// True if everything that conflicts with `other` also conflicts with `verb`.
constexpr bool stands_for(Verb verb, Verb other) {
    for (unsigned v = 0; v < verbs; ++v)
        for (const bool same_block : {false, true})
            if (conflict(other, static_cast<Verb>(v), same_block) &&
                !conflict(verb, static_cast<Verb>(v), same_block))
                return false;
    return true;
}

/// Tabulates a relation: for each verb the set of related verbs, a bit each.
template <class Relation>
constexpr auto tabulated(Relation relation) {
    std::array<std::uint16_t, verbs> table{};
    for (unsigned a = 0; a < verbs; ++a)
        for (unsigned b = 0; b < verbs; ++b)
            if (relation(static_cast<Verb>(a), static_cast<Verb>(b))) table[a] |= 1u << b;
    return table;
}
constexpr auto conflicts_in_block = tabulated([](Verb a, Verb b) { return conflict(a, b, true); });
constexpr auto conflicts_across = tabulated([](Verb a, Verb b) { return conflict(a, b, false); });
constexpr auto stood_for_by = tabulated([](Verb a, Verb b) { return stands_for(b, a); });
constexpr bool has(std::uint16_t set, Verb v) { return set >> static_cast<unsigned>(v) & 1; }
constexpr const auto& conflicts(bool same_block) {
    return same_block ? conflicts_in_block : conflicts_across;
}

/// True if two records stand for `me`: any later access that clashes with `me` clashes with one of them.
/// Between two barriers they must be of different warps, else of different blocks. A signal counts for the
/// latter only once its own block is `past` it: until then an access of that block may clash with `me` and
/// not with the signal.
bool stood_for(std::span<const Record> records, const Record& me, bool past) {
    const auto by = stood_for_by[static_cast<unsigned>(me.verb())];
    const Record* in_block = nullptr;
    const Record* any = nullptr;
    for (const auto& r : records) {
        if (&r == &me || (me.bytes & ~r.bytes) != 0 || !has(by, r.verb())) continue;
        if (past || !signals(r.verb())) {
            if (any && any->block != r.block) return true;
            any = &r;
        }
        if (r.block != me.block || r.barrier != me.barrier) continue;
        if (in_block && in_block->warp != r.warp) return true;
        in_block = &r;
    }
    return false;
}

/// Adds the access to a record of other accesses of its warp at the same time. Another such record stays as
/// it is: two are enough to name a line of the source.
void join(Record& record, const Record& me) {
    record.lanes |= me.lanes;
    record.code = me.code;
    record.lane = me.lane;
}

}  // namespace

void Clocks::start_block(unsigned slot, std::uint32_t block, unsigned threads) {
    auto& s = slots_[slot];
    s.block = block;
    s.barriers = 0;
    s.interval = ++intervals_;
    s.clocks.assign((threads + 31) / 32, 1);
    s.seen.assign(threads, {});
    s.fenced.assign(threads, std::nullopt);
    s.released.assign(threads, {});
    s.unfenced.assign(threads, false);
    s.unfenced_count = 0;
    s.any_fence = false;
    s.fenced_by_all.reset();
    s.known.clear();
}

void Clocks::barrier(unsigned slot) {
    auto& s = slots_[slot];
    ++s.barriers;
    s.interval = ++intervals_;
    if (s.any_fence && s.unfenced_count == 0) s.fenced_by_all = Stamp{s.block, s.barriers, 0, no_thread};
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
    s.fenced[thread] = Stamp{s.block, s.barriers, ++s.clocks[thread / 32], thread};
    s.any_fence = true;
    s.unfenced_count -= s.unfenced[thread];
    s.unfenced[thread] = false;
    // Plain reads of what the thread has learned are now ordered; after the next barrier, so are its block's.
    for (std::size_t i = 0, count = s.known.size(); i < count; ++i)
        if (const auto k = s.known[i]; !k.fenced && k.by(s.barriers, thread)) {
            const Known fenced{k.news, s.barriers, thread, true};
            if (k.barrier == s.barriers)  // known to this thread only
                s.known[i] = fenced;
            else if (std::none_of(s.known.begin(), s.known.end(), [&](const Known& other) {
                         return other.fenced && other.news == k.news && other.by(s.barriers, thread);
                     }))
                s.known.push_back(fenced);
        }
}

void Clocks::end_launch() {
    published_.clear();
    news_.clear();
}

std::uint32_t Clocks::unseen(const Record& earlier, Verb now, unsigned slot, unsigned thread) const {
    const auto& s = slots_[slot];
    if (earlier.block != s.block)
        return s.known.empty() ? earlier.lanes : unseen_across(earlier, now, s, thread);
    if (earlier.barrier != s.barriers) return 0;
    if (earlier.warp != thread / 32) return earlier.lanes;
    auto lanes = earlier.lanes & ~(1u << thread % 32);
    if (earlier.clock == s.clocks[earlier.warp]) return lanes;  // no synchronization since
    for (auto left = lanes; left != 0; left &= left - 1) {
        const auto lane = std::countr_zero(left);
        if (s.seen[thread][lane] > earlier.clock) lanes &= ~(1u << lane);
    }
    return lanes;
}

std::uint32_t Clocks::unseen_across(const Record& earlier, Verb now, const Slot& s, unsigned thread) const {
    auto lanes = earlier.lanes;
    ++searches_;
    to_visit_.clear();
    const auto visit = [&](const News* news) {
        if (std::exchange(news->visit, searches_) != searches_) to_visit_.push_back(news);
    };
    for (const auto& k : s.known)
        if (k.by(s.barriers, thread) && (k.fenced || now != Verb::read)) visit(k.news);
    while (lanes != 0 && !to_visit_.empty()) {
        const auto* news = to_visit_.back();
        to_visit_.pop_back();
        const auto& stamp = news->stamp;
        if (stamp.block == earlier.block) {
            if (earlier.barrier < stamp.barrier) return 0;
            if (earlier.barrier == stamp.barrier && earlier.warp == stamp.thread / 32 &&
                earlier.clock < stamp.clock)
                lanes &= ~(1u << stamp.thread % 32);
        }
        for (const auto* older : news->told) visit(older);
    }
    return lanes;
}

void Clocks::write(unsigned slot, unsigned thread) {
    auto& s = slots_[slot];
    s.unfenced_count += !s.unfenced[thread];
    s.unfenced[thread] = true;
}

void Clocks::acquire(unsigned slot, unsigned thread, std::uintptr_t address) {
    const auto found = published_.find(address);
    if (found == published_.end()) return;
    auto& s = slots_[slot];
    const auto* news = found->second;
    if (std::none_of(s.known.begin(), s.known.end(),
                     [&](const Known& k) { return k.news == news && k.by(s.barriers, thread); }))
        s.known.push_back({news, s.barriers, thread, false});
}

void Clocks::release(unsigned slot, unsigned thread, std::uintptr_t address) {
    auto& s = slots_[slot];
    auto stamp = s.fenced[thread];
    if (!stamp || (s.fenced_by_all && s.fenced_by_all->barrier > stamp->barrier)) stamp = s.fenced_by_all;
    if (!stamp) return;
    const Release release{address, *stamp, s.known.size()};
    if (std::exchange(s.released[thread], release) == release) return;
    auto& news = news_.emplace_back();
    news.stamp = *stamp;
    for (const auto& k : s.known)
        if (k.by(s.barriers, thread)) news.told.push_back(k.news);
    // A reader of this also learns what was published here before.
    if (const auto*& last = published_[address]; last) news.told.push_back(last);
    published_[address] = &news;
}

Shadow::Shadow(std::size_t bytes, bool keeps_written)
    : count_((bytes + 3) / 4), most_(count_), keeps_written_(keeps_written) {
    cells_ = zeros<Cell>(count_);
    calm_ = zeros<std::uint64_t>(count_);
    if (!cells_ || !calm_) simt::out_of_memory();
}

bool Shadow::reuse(std::size_t bytes, bool keeps_written, std::uint32_t epoch) {
    const auto count = (bytes + 3) / 4;
    if (keeps_written != keeps_written_ || count > most_ || count < most_ / 2) return false;
    count_ = count;
    first_epoch_ = epoch;
    words_touched = 0;
    written = false;
    written_parts.clear();
    return true;
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

/// The usual case: no unordered access conflicts, and the access either joins a record or has two that stand
/// for it, as in stood_for().
inline Shadow::Look Shadow::look(Cell& cell, const Record& me) {
    // Compared one by one: reading two bytes just stored as one word would stall.
    const unsigned verb = me.did, bytes = me.bytes;
    const auto in_block = conflicts_in_block[verb], across = conflicts_across[verb], by = stood_for_by[verb];
    Record *alike = nullptr, *first_like = nullptr, *last_like = nullptr;
    const Record *current = nullptr, *any = nullptr;
    unsigned covered = 0, own = 0;
    for (auto& r : records(cell)) {
        const bool stands = has(by, r.verb()) && (bytes & ~r.bytes) == 0;
        if (r.block != me.block) {
            if (has(across, r.verb()) && (r.bytes & bytes) != 0) return {0, 0};
        } else if (r.barrier == me.barrier) {
            const bool same_warp = r.warp == me.warp;
            if (has(in_block, r.verb()) && (r.bytes & bytes) != 0) {
                if (!same_warp || r.lanes != me.lanes) return {0, 0};
                own = 1;
            }
            if (same_warp && r.clock == me.clock && r.did == verb && r.bytes == bytes) {
                if (r.code == me.code) alike = &r;
                (first_like ? last_like : first_like) = &r;
            }
            if (stands) {
                covered |= current && current->warp != r.warp;
                current = &r;
            }
        }
        if (stands && !signals(r.verb())) {
            covered |= any && any->block != r.block;
            any = &r;
        }
    }
    if (alike)
        alike->lanes |= me.lanes;
    else if (last_like)
        join(*last_like, me);
    const unsigned unhindered = own == 0 && verb == static_cast<unsigned>(Verb::read) && bytes == 0xf;
    return {covered | (alike || last_like), covered & unhindered, unhindered ? alike : nullptr};
}

inline bool Shadow::settle_behind_barrier(Cell& cell, const Record& me, const Clocks& clocks) {
    if (cell.more != 0) return false;
    unsigned other = 0;
    for (unsigned i = 0; i < cell.count; ++i)
        other |= (cell.records[i].block ^ me.block) | (cell.records[i].barrier == me.barrier);
    if (other != 0) return false;
    for (unsigned i = 0; i < cell.count;) {
        const auto& r = cell.records[i];
        if ((r.bytes & ~me.bytes) == 0 && has(stood_for_by[r.did], me.verb()))
            cell.records[i] = cell.records[--cell.count];
        else
            ++i;
    }
    if (cell.count < cell.records.size())
        cell.records[cell.count++] = me;
    else
        remember(cell, me, clocks);
    return true;
}

Shadow::Answer Shadow::access(std::size_t offset, std::size_t bytes, Verb verb, std::uint32_t code,
                              std::uint32_t epoch, const Clocks& clocks, unsigned slot, unsigned thread) {
    Answer answer;
    auto me = clocks.now(slot, thread);
    me.code = code;
    me.did = static_cast<std::uint8_t>(verb);
    // An access is aligned to its width, of 1, 2, 4, … bytes.
    me.bytes = static_cast<std::uint8_t>(bytes >= 4 ? 0xf : ((1u << bytes) - 1) << offset % 4);
    for (auto word = offset / 4; word * 4 < offset + bytes && word < count_; ++word) {
        auto& cell = cells_[word];
        if (cell.epoch != epoch) renew(cell, epoch);
        if (!written && !written_parts.empty() && (me.bytes & ~cell.written) != 0)
            cell.written |= written_by_host(word);
        const bool all_written = written || (me.bytes & ~cell.written) == 0;
        answer.unwritten = answer.unwritten || !all_written;
        if (writes(verb)) {
            cell.written |= me.bytes;
            if (cell.read_only) answer.read_only = cell.other;
            if (!cell.changed && !cell.read_only) cell.other = code;
            cell.changed = true;
        }
        if (is_atomic(verb)) cell.updated_by = verb == Verb::update ? thread_of(me) : 0;
        const auto interval = clocks.interval(slot);
        if (verb == Verb::read && me.bytes == 0xf) {
            if (calm_[word] == interval) continue;
            if (cell.quiet == interval && all_written) {
                auto& r = records(cell)[cell.reader];
                if (r.warp == me.warp && r.clock == me.clock && r.code == me.code) {
                    r.lanes |= me.lanes;
                    continue;
                }
            }
        }
        cell.quiet = 0;
        if (settle_behind_barrier(cell, me, clocks)) {
            calm_[word] = 0;
            continue;
        }
        const auto seen = look(cell, me);
        if (seen.reader) {
            cell.quiet = interval;
            cell.reader = static_cast<std::uint32_t>(seen.reader - records(cell).data());
        }
        if (seen.calm && all_written) calm_[word] = interval;
        if (seen.nothing_new) continue;
        calm_[word] = 0;
        if (const auto clash = settle(cell, me, clocks, slot, thread); clash && !answer.clash)
            answer.clash = clash;
    }
    return answer;
}

std::uint8_t Shadow::written_by_host(std::size_t word) const {
    const auto begin = 4 * word;
    auto part = std::partition_point(written_parts.begin(), written_parts.end(),
                                     [&](const simt::Range& r) { return r.end <= begin; });
    unsigned bytes = 0;
    for (; part != written_parts.end() && part->begin < begin + 4; ++part)
        for (auto i = std::max(part->begin, begin); i < std::min(part->end, begin + 4); ++i)
            bytes |= 1u << (i - begin);
    return static_cast<std::uint8_t>(bytes);
}

std::size_t Shadow::written_by_kernels_beside(std::size_t first, std::size_t last) const {
    std::size_t words = 0;
    for (std::size_t i = 0; i < count_; ++i)
        words += (i < first || i > last) && cells_[i].epoch >= first_epoch_ &&
                 (cells_[i].written & ~written_by_host(i)) != 0;
    return words;
}

/// Forgets the accesses of earlier epochs.
void Shadow::renew(Cell& cell, std::uint32_t epoch) {
    if (cell.more != 0)
        more_[cell.more - 1].clear();
    else
        cell.count = 0;
    cell.changed = cell.read_only = false;
    cell.updated_by = 0;
    if (!keeps_written_ || cell.epoch < first_epoch_) cell.written = 0;
    cell.epoch = epoch;
    ++words_touched;
}

std::optional<std::uint32_t> Shadow::read_only(std::size_t offset, std::size_t bytes, std::uint32_t code,
                                               std::uint32_t epoch) {
    std::optional<std::uint32_t> changed_by;
    for (auto word = offset / 4; word * 4 < offset + bytes && word < count_; ++word) {
        auto& cell = cells_[word];
        if (cell.epoch != epoch) renew(cell, epoch);
        if (cell.changed)
            changed_by = cell.other;
        else
            cell.other = code;
        cell.read_only = true;
    }
    return changed_by;
}

Shadow::Beside Shadow::written_beside(std::size_t first, std::size_t last, const Record& who,
                                      std::uint32_t code, std::uint32_t epoch) {
    Beside found;
    for (std::size_t i = 0; i < count_; ++i) {
        if ((i >= first && i <= last) || cells_[i].epoch != epoch) continue;
        for (const auto& r : records(cells_[i]))
            if (r.code == code && writes(r.verb()) && r.block == who.block && r.warp == who.warp &&
                r.lanes >> who.first_lane() & 1)
                (i < first ? found.before : found.behind) = true;
    }
    return found;
}

Shadow::Written Shadow::written_of(std::size_t first, std::size_t last, std::uint32_t epoch) {
    Written found;
    for (auto i = first; i <= last; ++i) {
        if (cells_[i].epoch != epoch || cells_[i].written == 0) continue;
        if (cells_[i].written != 0xf) found.partly = true;
        ++found.words;
        for (const auto& r : records(cells_[i]))
            if (writes(r.verb())) found.codes.insert(r.code);
    }
    return found;
}

/// Returns the record that the access clashes with, if any. Replaces the records that the access stands for.
std::optional<Record> Shadow::settle(Cell& cell, const Record& me, const Clocks& clocks, unsigned slot,
                                     unsigned thread) {
    std::optional<Record> clash;
    const bool last_update_is_mine = !is_atomic(me.verb()) && cell.updated_by == thread_of(me);
    auto all = records(cell);
    const auto verb = static_cast<unsigned>(me.verb());
    for (std::size_t i = 0; i < all.size();) {
        auto& r = all[i];
        const bool clashes = (r.bytes & me.bytes) != 0 && has(conflicts(r.block == me.block)[verb], r.verb());
        const bool replaced =
            (r.bytes & ~me.bytes) == 0 && has(stood_for_by[static_cast<unsigned>(r.verb())], me.verb());
        if (clashes || replaced) {
            const bool found = last_update_is_mine && r.verb() == Verb::update && r.block != me.block;
            const auto unseen = found ? 0 : clocks.unseen(r, me.verb(), slot, thread);
            if (clashes && unseen != 0 && !clash) {
                clash = r;
                clash->lanes = unseen;
            }
            // A clash is reported once.
            r.lanes = !replaced ? r.lanes & ~unseen : clashes ? 0 : unseen;
        }
        if (r.lanes == 0) {
            remove(cell, i);
            all = records(cell);
        } else {
            ++i;
        }
    }
    Record* alike = nullptr;
    for (auto& r : all)
        if (r.clock == me.clock && r.warp == me.warp && r.block == me.block && r.barrier == me.barrier &&
            r.did == me.did && r.bytes == me.bytes && r.code == me.code)
            alike = &r;
    if (alike)
        alike->lanes |= me.lanes;
    else if (!stood_for(all, me, false))
        remember(cell, me, clocks);
    return clash;
}

}  // namespace meter
