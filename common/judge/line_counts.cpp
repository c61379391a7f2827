#include "judge/line_counts.hpp"

#include "check/json.hpp"

#include <algorithm>
#include <bit>
#include <sstream>
#include <string_view>
#include <utility>

namespace kata {

namespace {

std::uint64_t transactions(const Counts& c) {
    std::uint64_t sum = 0;
    for (const auto* t : {&c.global_load, &c.global_store, &c.global_atomic, &c.shared_load, &c.shared_store,
                          &c.shared_atomic, &c.constant_load})
        sum += t->transactions;
    return sum;
}

std::uint64_t distinct(const Counts& c) {
    return c.global_load.distinct + c.global_store.distinct + c.global_atomic.distinct;
}

/// Returns the largest number of lanes of a request that access one address.
std::uint64_t most_at_one(const Request& r) {
    std::map<std::uintptr_t, std::uint64_t> lanes;
    std::uint64_t most = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
        if (r.lanes >> lane & 1) most = std::max(most, ++lanes[r.addresses[lane]]);
    return most;
}

}  // namespace

std::vector<std::string> lines_of(const Scene& scene, const std::vector<CodePlace>& places) {
    std::vector<std::uint32_t> codes;
    for (const auto& place : places) codes.push_back(std::get<0>(place));
    return scene.lines_of ? scene.lines_of(codes) : std::vector<std::string>();
}

std::string totals_as_json(const Counts& c) {
    std::ostringstream out;
    const auto sum = [](const auto&... values) { return (values + ...); };
    out << "{\"sectors\": "
        << sum(c.global_load.transactions, c.global_store.transactions, c.global_atomic.transactions)
        << ", \"lines\": " << c.lines << ", \"shared_passes\": "
        << sum(c.shared_load.transactions, c.shared_store.transactions, c.shared_atomic.transactions)
        << ", \"bank_conflicts\": " << c.bank_conflicts << ", \"atomics\": " << c.global_atomic.accesses
        << ", \"shared_atomics\": " << c.shared_atomic.accesses << ", \"waits\": " << c.same_address
        << ", \"barriers\": " << c.barriers << ", \"active_lanes\": " << c.active_lanes()
        << ", \"work\": " << c.work << ", \"span\": " << c.span << ", \"makespan\": " << c.makespan
        << ", \"threads\": " << c.threads << ", \"blocks\": " << c.blocks << ", \"launches\": " << c.launches
        << ", \"contention\": " << c.contention << "}";
    return out.str();
}

void LineCounts::launch_begins(const Scene& begun) {
    scene_ = begun;
    for (auto& [place, sum] : sums_) sum.updates.clear();
}

void LineCounts::request(const Request& r) {
    auto& sum = sums_[{r.code, r.did, r.memory}];
    if (sum.requests++ == 0 && *r.memory) {
        sum.array = scene_.array_at(r.addresses[static_cast<unsigned>(std::countr_zero(r.lanes))]).name;
        sum.bytes = r.bytes;
    }
    const std::string_view memory = r.memory;
    sum.lanes += static_cast<unsigned>(std::popcount(r.lanes));
    sum.steps += r.steps;
    sum.waits += r.counts.same_address;
    if (memory == "global") {
        sum.units += transactions(r.counts);
        sum.least += (distinct(r.counts) + 31) / 32;
        if (r.counts.global_atomic.accesses > 0) {
            for (unsigned lane = 0; lane < 32; ++lane)
                if (r.lanes >> lane & 1) sum.update(r.addresses[lane]);
            // Lanes that update one address take turns, as in shared memory. Counts::work has one step
            // per line instead.
            sum.steps += most_at_one(r) - 1;
        }
    } else if (memory == "shared") {
        // Lanes that update one word also take turns.
        const auto passes = transactions(r.counts);
        sum.units += std::max(passes, r.steps);
        sum.least += passes - r.counts.bank_conflicts;
    } else if (memory == "constant") {
        sum.units += r.steps;
        ++sum.least;
    }
}

std::string LineCounts::as_json() const {
    std::vector<CodePlace> places;
    for (const auto& [place, sum] : sums_) places.push_back(place);
    const auto lines = lines_of(scene_, places);
    auto line = lines.begin();
    return list_of(sums_, [&](const auto& one) {
        const auto& [place, sum] = one;
        std::ostringstream out;
        out << "\n{\"line\": " << kata::as_json(*line++) << ", \"did\": " << kata::as_json(std::get<1>(place))
            << ", \"memory\": " << kata::as_json(std::get<2>(place))
            << ", \"array\": " << kata::as_json(sum.array) << ", \"bytes\": " << sum.bytes
            << ", \"requests\": " << sum.requests << ", \"lanes\": " << sum.lanes
            << ", \"steps\": " << sum.steps << ", \"units\": " << sum.units << ", \"least\": " << sum.least
            << ", \"waits\": " << sum.waits << ", \"turns\": " << sum.turns << "}";
        return out.str();
    });
}

}  // namespace kata
