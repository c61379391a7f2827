#include "meter/warp_log.hpp"

#include <algorithm>
#include <utility>

namespace meter {

namespace {

constexpr std::uintptr_t sector_bytes = 32;
constexpr std::uintptr_t line_bytes = 128;
constexpr std::uintptr_t bank_bytes = 4;
constexpr unsigned banks = 32;

struct Span {
    std::uintptr_t begin, end;
};

/// The bytes of a request as disjoint ascending ranges. Addresses mostly ascend with lanes already.
class Footprint {
  public:
    explicit Footprint(Group lanes) {
        const auto first = lanes.front()->address;
        spans_[0] = {first, first};
        bool ascending = true, one_address = true;
        for (const auto* e : lanes) {
            const auto begin = e->address, end = begin + e->bytes;
            auto& last = spans_[count_ - 1];
            asked_ += e->bytes;
            one_address = one_address && begin == first;
            if (begin > last.end)
                spans_[count_++] = {begin, end};
            else if (begin >= last.begin)
                last.end = std::max(last.end, end);
            else
                ascending = false;
        }
        one_address_ = one_address;
        if (!ascending) put_in_order(lanes);
    }

    std::uint64_t asked() const { return asked_; }  // bytes, summed over lanes
    bool one_address() const { return one_address_; }
    std::uint64_t bytes() const {
        std::uint64_t sum = 0;
        for (unsigned i = 0; i < count_; ++i) sum += spans_[i].end - spans_[i].begin;
        return sum;
    }

    /// Returns the number of aligned pieces of memory of this size that contain the bytes.
    template <std::uintptr_t size>
    std::uint64_t pieces() const {
        std::uint64_t sum = 0;
        std::uintptr_t counted = 0;  // one past the last piece counted
        for (unsigned i = 0; i < count_; ++i) {
            const auto first = std::max(spans_[i].begin / size, counted);
            const auto end = (spans_[i].end - 1) / size + 1;
            if (end > first) sum += end - first;
            counted = std::max(counted, end);
        }
        return sum;
    }

    /// Returns the largest number of distinct words in one bank.
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
    void put_in_order(Group lanes) {
        count_ = 0;
        for (const auto* e : lanes) spans_[count_++] = {e->address, e->address + e->bytes};
        std::sort(spans_.begin(), spans_.begin() + count_,
                  [](const Span& a, const Span& b) { return a.begin < b.begin; });
        unsigned last = 0;
        for (unsigned i = 1; i < count_; ++i)
            if (spans_[i].begin <= spans_[last].end)
                spans_[last].end = std::max(spans_[last].end, spans_[i].end);
            else
                spans_[++last] = spans_[i];
        count_ = last + 1;
    }

    std::array<Span, 32> spans_;
    unsigned count_ = 1;
    std::uint64_t asked_ = 0;
    bool one_address_ = true;
};

/// True if the active lanes of each aligned pair, `distance` apart, access the same address.
bool agree(Group lanes, unsigned distance) {
    std::array<std::uintptr_t, 32> asked{};
    for (const auto* e : lanes) asked[e->lane] = e->address;
    return std::all_of(lanes.begin(), lanes.end(), [&](const Event* e) {
        const auto other = asked[e->lane ^ distance];
        return other == 0 || other == e->address;
    });
}

/// Returns the largest number of lanes that access one address.
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

/// Wide accesses to shared memory are served half or a quarter of a warp at a time. Loads are served twice as
/// many lanes at a time if throughout the warp either neighbours or lanes two apart access the same address.
/// NVIDIA documents this for compute capability 7.x, and the counters of an H100 agree.
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
    const auto distinct = footprint.bytes();
    traffic.bytes += footprint.asked();
    traffic.distinct += distinct;
    if (first.what == What::atomic) counts.same_address += lanes.size() - distinct / first.bytes;
    if (first.space == Space::shared) {
        const auto before = traffic.transactions;
        account_shared(lanes, footprint, first.bytes, traffic, counts);
        const auto passes = traffic.transactions - before;
        return first.what == What::atomic ? passes - 1 + most_at_one(lanes) : passes;
    }
    traffic.transactions += footprint.pieces<sector_bytes>();
    if (first.space == Space::constant) return (distinct + first.bytes - 1) / first.bytes;
    const auto lines = footprint.pieces<line_bytes>();
    if (!footprint.one_address()) counts.lines += lines;
    return lines;
}

std::vector<std::unique_ptr<WarpLog::Rows>> WarpLog::spare;

void WarpLog::take() {
    if (spare.empty()) spare.push_back(std::make_unique_for_overwrite<Rows>());
    rows_ = std::move(spare.back());
    spare.pop_back();
}

void WarpLog::give_back() {
    if (rows_) spare.push_back(std::move(rows_));
}

void WarpLog::tidy() {
    for (unsigned l = 0; l < 32; ++l) {
        auto& lane = lanes_[l];
        if (lane.next < lane.end && lane.end < capacity) continue;
        auto& steps = rows_->steps[l];
        auto& accesses = rows_->accesses[l];
        if (lane.end > 0) lane.before = steps[lane.end - 1] / 2;
        std::copy(&steps[lane.next], &steps[lane.end], steps.begin());
        std::copy(&accesses[lane.next_access], &accesses[lane.end_access], accesses.begin());
        lane = {0, lane.end - lane.next, 0, lane.end_access - lane.next_access, lane.before};
    }
}

}  // namespace meter
