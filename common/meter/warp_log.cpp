#include "meter/warp_log.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace meter {

namespace {

constexpr std::uintptr_t sector_bytes = 32;
constexpr std::uintptr_t line_bytes = 128;
constexpr std::uintptr_t bank_bytes = 4;
constexpr unsigned banks = 32;

struct Span {
    std::uintptr_t begin, end;
};

/// The bytes of a request as disjoint ascending ranges. Lanes mostly come in ascending order already.
class Footprint {
  public:
    explicit Footprint(Group lanes) {
        for (const auto* e : lanes) spans_[count_++] = {e->address, e->address + e->bytes};
        const auto less = [](const Span& a, const Span& b) { return a.begin < b.begin; };
        if (!std::is_sorted(spans_.begin(), spans_.begin() + count_, less))
            std::sort(spans_.begin(), spans_.begin() + count_, less);
        unsigned last = 0;
        for (unsigned i = 1; i < count_; ++i)
            if (spans_[i].begin <= spans_[last].end)
                spans_[last].end = std::max(spans_[last].end, spans_[i].end);
            else
                spans_[++last] = spans_[i];
        count_ = last + 1;
    }

    std::uint64_t bytes() const {
        std::uint64_t sum = 0;
        for (unsigned i = 0; i < count_; ++i) sum += spans_[i].end - spans_[i].begin;
        return sum;
    }

    /// Pieces of memory of this size, each beginning at a multiple of it, that the bytes lie in.
    std::uint64_t pieces(std::uintptr_t size) const {
        std::uint64_t sum = 0;
        std::uintptr_t counted = 0;  // one past the last piece that was counted
        for (unsigned i = 0; i < count_; ++i) {
            const auto first = std::max(spans_[i].begin / size, counted);
            const auto end = (spans_[i].end - 1) / size + 1;
            if (end > first) sum += end - first;
            counted = std::max(counted, end);
        }
        return sum;
    }

    /// The most distinct words in one bank.
    std::uint64_t passes() const {
        std::array<std::uint16_t, banks> words{};
        std::uintptr_t counted = 0;
        for (unsigned i = 0; i < count_; ++i) {
            auto word = std::max(spans_[i].begin / bank_bytes, counted);
            const auto end = (spans_[i].end - 1) / bank_bytes + 1;
            for (; word < end; ++word) ++words[word % banks];
            counted = std::max(counted, end);
        }
        return *std::max_element(words.begin(), words.end());
    }

  private:
    std::array<Span, 32> spans_;
    unsigned count_ = 0;
};

/// Whether any two active lanes that are `distance` apart, in aligned pairs, ask for the same.
bool agree(Group lanes, unsigned distance) {
    std::array<std::uintptr_t, 32> asked{};
    for (const auto* e : lanes) asked[e->lane] = e->address;
    return std::all_of(lanes.begin(), lanes.end(), [&](const Event* e) {
        const auto other = asked[e->lane ^ distance];
        return other == 0 || other == e->address;
    });
}

/// The most lanes that ask for one address.
std::uint64_t most_at_one(Group lanes) {
    std::array<std::uintptr_t, 32> asked;
    std::transform(lanes.begin(), lanes.end(), asked.begin(), [](const Event* e) { return e->address; });
    const auto end = asked.begin() + static_cast<std::ptrdiff_t>(lanes.size());
    std::sort(asked.begin(), end);
    std::uint64_t most = 0;
    for (auto at = asked.begin(); at != end;) {
        const auto next = std::upper_bound(at, end, *at);
        most = std::max(most, static_cast<std::uint64_t>(next - at));
        at = next;
    }
    return most;
}

/// Wide accesses to shared memory are served a half or a quarter of the warp at a time, and loads twice as
/// many lanes if throughout the warp either neighbours or lanes two apart agree: NVIDIA says so of compute
/// capability 7.x, and an H100 counts so.
void account_shared(Group lanes, const Footprint& of_all, std::uint64_t lane_bytes, kata::Traffic& traffic,
                    kata::Counts& counts) {
    unsigned together = lane_bytes >= 16 ? 8 : lane_bytes >= 8 ? 16 : 32;
    if (together < 32 && lanes.front()->what == What::load && (agree(lanes, 1) || agree(lanes, 2)))
        together *= 2;
    const auto add = [&](std::uint64_t passes) {
        traffic.transactions += passes;
        counts.bank_conflicts += passes - 1;
    };
    if (together == 32) return add(of_all.passes());
    for (std::size_t from = 0, to = 0; from < lanes.size(); from = to) {
        const auto part = lanes[from]->lane / together;
        while (to < lanes.size() && lanes[to]->lane / together == part) ++to;
        add(Footprint(lanes.subspan(from, to - from)).passes());
    }
}

kata::Traffic& traffic_of(const Event& e, kata::Counts& c) {
    if (e.space == Space::constant) return c.constant_load;
    if (e.space == Space::global)
        return e.what == What::load    ? c.global_load
               : e.what == What::store ? c.global_store
                                       : c.global_atomic;
    return e.what == What::load ? c.shared_load : e.what == What::store ? c.shared_store : c.shared_atomic;
}

}  // namespace

std::uint64_t account(Group lanes, kata::Counts& counts) {
    const auto& first = *lanes.front();
    if (first.what == What::basic_block) {
        counts.lane_basic_blocks += lanes.size();
        ++counts.basic_blocks;
        return 1;
    }
    auto& traffic = traffic_of(first, counts);
    const Footprint footprint(lanes);
    ++traffic.requests;
    traffic.accesses += lanes.size();
    for (const auto* e : lanes) traffic.bytes += e->bytes;
    traffic.distinct += footprint.bytes();
    if (first.what == What::atomic) counts.same_address += lanes.size() - footprint.bytes() / first.bytes;
    if (first.space == Space::shared) {
        const auto before = traffic.transactions;
        account_shared(lanes, footprint, first.bytes, traffic, counts);
        const auto passes = traffic.transactions - before;
        return first.what == What::atomic ? passes - 1 + most_at_one(lanes) : passes;
    }
    traffic.transactions += footprint.pieces(sector_bytes);
    if (first.space == Space::constant) return (footprint.bytes() + first.bytes - 1) / first.bytes;
    const auto lines = footprint.pieces(line_bytes);
    const bool one_address =
        std::all_of(lanes.begin(), lanes.end(), [&](const Event* e) { return e->address == first.address; });
    if (!one_address) counts.lines += lines;
    return lines;
}

namespace {

std::vector<std::unique_ptr<Event[]>> spare;

}  // namespace

void WarpLog::take() {
    if (spare.empty()) spare.push_back(std::make_unique_for_overwrite<Event[]>(32 * stride));
    events_ = std::move(spare.back());
    spare.pop_back();
}

void WarpLog::give_back() {
    if (events_) spare.push_back(std::move(events_));
}

void WarpLog::read(std::uint32_t waiting, const std::function<void(Group)>& account) {
    if (!events_) return;
    constexpr auto none = std::numeric_limits<std::uint32_t>::max();
    std::array<const Event*, 32> at, end, group;
    std::array<std::uint32_t, 32> codes;  // of each lane's next event, or `none`
    std::uint32_t at_end = 0;
    const auto look_at = [&](unsigned l) {
        codes[l] = at[l] != end[l] ? at[l]->code : none;
        at_end |= static_cast<std::uint32_t>(at[l] == end[l]) << l;
    };
    for (unsigned l = 0; l < 32; ++l) {
        at[l] = &events_[l * stride] + lanes_[l].next;
        end[l] = &events_[l * stride] + lanes_[l].end;
        look_at(l);
    }
    for (;;) {
        if ((at_end & ~waiting) != 0) break;  // a lane whose next event has not happened yet
        auto lowest = none;
        for (const auto code : codes) lowest = std::min(lowest, code);
        if (lowest == none) break;
        // One instruction may reach several memories through a pointer; each is a request of its own.
        std::array<unsigned, 4> in_space{};
        unsigned count = 0;
        for (unsigned l = 0; l < 32; ++l)
            if (codes[l] == lowest) {
                ++in_space[static_cast<unsigned>(at[l]->space)];
                group[count++] = at[l]++;
                look_at(l);
            }
        if (in_space[static_cast<unsigned>(group[0]->space)] == count) {
            account(std::span(group).first(count));
            continue;
        }
        std::stable_sort(group.begin(), group.begin() + count,
                         [](const Event* a, const Event* b) { return a->space < b->space; });
        unsigned from = 0;
        for (const auto n : in_space)
            if (n > 0) {
                account(std::span(group).subspan(from, n));
                from += n;
            }
    }
    bool any_left = false;
    for (unsigned l = 0; l < 32; ++l) {
        auto& lane = lanes_[l];
        auto* const events = &events_[l * stride];
        any_left = any_left || at[l] != end[l];
        lane.next = static_cast<unsigned>(at[l] - events);
        if (lane.next < lane.end && lane.end < capacity) continue;
        if (lane.end > 0) lane.before = events[lane.end - 1].code;
        std::copy(events + lane.next, events + lane.end, events);
        lane = {0, lane.end - lane.next, lane.before};
    }
    if (!any_left) give_back();
}

}  // namespace meter
