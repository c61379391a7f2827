#include "suite/suite.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdio>

#include "error.hpp"

namespace kata {

namespace {

std::string quantity_text(Quantity q, double value) {
    char text[64];
    if (q == Quantity::time)
        std::snprintf(text, sizeof text, "%.3f ms", value * 1e3);
    else
        std::snprintf(text, sizeof text, "%.0f %s", value, name_of(q));
    return text;
}

}  // namespace

const char* name_of(Quantity q) {
    switch (q) {
        case Quantity::bytes_loaded: return "bytes loaded from global memory";
        case Quantity::bytes_stored: return "bytes stored to global memory";
        case Quantity::sectors_loaded: return "32-byte sectors loaded";
        case Quantity::sectors_stored: return "32-byte sectors stored";
        case Quantity::threads: return "threads";
        case Quantity::shared_passes: return "passes over the banks of shared memory";
        case Quantity::atomics: return "atomics on global memory";
        case Quantity::barriers: return "barriers";
        case Quantity::time: return "time";
    }
    return "";
}

double value_of(Quantity q, const Counts& c) {
    const auto value = [&]() -> std::uint64_t {
        switch (q) {
            case Quantity::bytes_loaded: return c.global_load.bytes;
            case Quantity::bytes_stored: return c.global_store.bytes;
            case Quantity::sectors_loaded: return c.global_load.transactions;
            case Quantity::sectors_stored: return c.global_store.transactions;
            case Quantity::threads: return c.threads;
            case Quantity::shared_passes:
                return c.shared_load.transactions + c.shared_store.transactions + c.shared_atomic.transactions;
            case Quantity::atomics: return c.global_atomic.accesses;
            case Quantity::barriers: return c.barriers;
            case Quantity::time: break;
        }
        throw Error("time is not counted");
    };
    return static_cast<double>(value());
}

void check_counted_claims(std::span<const Claim> claims, const std::function<Counts(const Module&)>& count) {
    if (!counts_available()) SKIP("nothing is counted on this back end");
    const auto name = step().name().substr(0, step().name().find('.'));
    std::optional<Counts> mine;
    for (const auto& claim : claims) {
        if (claim.better != name || claim.quantity == Quantity::time) continue;
        if (!mine) mine = count(step());
        const auto theirs = count(rival(claim.worse));
        if (const auto text = broken(claim, value_of(claim.quantity, *mine), value_of(claim.quantity, theirs)))
            FAIL_CHECK(*text);
        else
            SUCCEED(claim.why);
    }
    if (!mine) SUCCEED("the first step promises nothing");
}

std::optional<std::string> broken(const Claim& claim, double better, double worse) {
    if (better > 0 && worse / better >= claim.least * (1 - 1e-9)) return std::nullopt;
    char ratio[96];
    std::snprintf(ratio, sizeof ratio, "%.3g times less was to be had, %.3g times it is", claim.least,
                  better > 0 ? worse / better : 0.0);
    return std::string("right, but without the point of the step: ") + claim.why + "\n  " + claim.better + ": " +
           quantity_text(claim.quantity, better) + "\n  " + claim.worse + ": " + quantity_text(claim.quantity, worse) +
           "\n  " + ratio;
}

std::optional<std::string> fault_of(const std::function<Observation()>& work,
                                    const std::function<std::optional<std::string>()>& compare, Observation* seen) {
    Observation observed;
    try {
        observed = work();
    } catch (const Error& e) {
        return e.what();
    }
    if (seen) *seen = observed;
    if (!observed.findings.empty()) {
        std::string text;
        for (const auto& f : observed.findings) text += (text.empty() ? "" : "\n") + f;
        return text;
    }
    auto wrong = compare();
    if (wrong && observed.launches == 0) return "no kernel was launched\n" + *wrong;
    return wrong;
}

}  // namespace kata
