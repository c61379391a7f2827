// Shared by the files of the meter's suite. The meter is tested on kernels counted by hand, on kernels with
// known faults, and with an oracle that checks all pairs of accesses of random programs.
#pragma once
#define CATCH_CONFIG_ENABLE_PAIR_STRINGMAKER
#include "buffer.hpp"
#include "error.hpp"
#include "kernels.hpp"
#include "marks.hpp"
#include "observe.hpp"
#include "watch.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace Catch {

template <>
struct StringMaker<kata::Traffic> {
    static std::string convert(const kata::Traffic& t) {
        std::ostringstream text;
        text << "{accesses " << t.accesses << ", bytes " << t.bytes << ", distinct " << t.distinct
             << ", requests " << t.requests << ", transactions " << t.transactions << '}';
        return text.str();
    }
};

template <>
struct StringMaker<kata::Counts> {
    static std::string convert(const kata::Counts& c) {
        std::ostringstream text;
        text << "{basic_blocks " << c.basic_blocks << ", lanes' " << c.lane_basic_blocks << ", work "
             << c.work << ", span " << c.span << ", makespan " << c.makespan << ", contention "
             << c.contention << ", global atomics " << c.global_atomic.requests << ", loads "
             << c.global_load.requests << ", stores " << c.global_store.requests << ", …}";
        return text.str();
    }
};

}  // namespace Catch

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::Equals;
using Catch::Matchers::StartsWith;
using kata::Buffer;
using kata::Conditions;
using kata::Counts;
using kata::observe;
using kata::Order;
using kata::Traffic;

using Work = std::function<void()>;
using Findings = std::vector<std::string>;

inline const std::vector<Conditions> all_orders{{},
                                                {.order = Order::backwards},
                                                {.order = Order::shuffled, .seed = 1},
                                                {.order = Order::shuffled, .seed = 2}};

template <class T>
Buffer<T> filled(std::string_view name, std::size_t n, T value = T{}) {
    const std::vector<T> values(n, value);
    return {name, std::span<const T>(values)};
}

/// Returns the counts of the work. Checks that they are the same on every run and in every order, and that
/// there are no findings.
inline Counts count(const Work& work) {
    const auto seen = observe({}, work);
    CHECK(seen.findings == Findings{});
    CHECK(observe({}, work).counts.value() == seen.counts.value());
    for (const auto& conditions : all_orders)
        CHECK(observe(conditions, work).counts.value() == seen.counts.value());
    return seen.counts.value();
}

/// Traffic of `accesses` of `width` bytes each, without bytes that two lanes of a request share.
inline Traffic traffic(std::uint64_t accesses, std::uint64_t width, std::uint64_t requests,
                       std::uint64_t transactions) {
    return {accesses, accesses * width, accesses * width, requests, transactions};
}

/// Returns "races.cu:12" if line 12 of that file has the comment `mark: …`.
inline std::string line_of(const std::string& mark) { return marked_line(TESTS_DIR "/meter", mark); }

inline Findings found(const Work& work, const Conditions& conditions = {}) {
    return observe(conditions, work).findings;
}

/// Returns true if nothing is found. Checks that this does not depend on the order.
inline bool clean(const Work& work) {
    const bool nothing = found(work).empty();
    for (const auto& conditions : all_orders) {
        const auto findings = found(work, conditions);
        CAPTURE(findings);
        CHECK(findings.empty() == nothing);
    }
    return nothing;
}

/// Returns the message of the error that ends the work, "" if it ends without one.
inline std::string fault(const Work& work) {
    try {
        observe({}, work);
    } catch (const kata::Error& e) {
        return e.what();
    }
    return "";
}

/// Records what it observes during its lifetime.
struct Watched final : kata::Watcher {
    std::vector<kata::Request> requests;
    std::vector<kata::Scene> launches;
    std::vector<std::size_t> samples_ended_at;  // numbers of requests
    bool seen_enough = false;

    Watched() { kata::watcher = this; }
    ~Watched() override { kata::watcher = nullptr; }
    void launch_begins(const kata::Scene& scene) override { launches.push_back(scene); }
    void request(const kata::Request& r) override { requests.push_back(r); }
    bool has_enough() override { return seen_enough; }
    bool sample_ends() override {
        samples_ended_at.push_back(requests.size());
        return true;
    }

    std::vector<kata::Request> those(std::string_view did, std::string_view memory) const {
        std::vector<kata::Request> found;
        std::copy_if(requests.begin(), requests.end(), std::back_inserter(found),
                     [&](const kata::Request& r) { return r.did == did && r.memory == memory; });
        return found;
    }
};
