// Asynchronous copies.
#include "suite.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

// Two groups of copies: the second is awaited after the first has been read, or together with the first.
TEST_CASE("a copy awaited after other work is distinguished from one awaited at once", "[pipeline]") {
    if (!kata::counts_available()) SKIP("nothing is counted");
    auto in = upload("in", listed<int>(64, [](int i) { return i; })), out = zeros<int>("out", 64);
    const auto counts = [&](int groups) {
        return observe({}, [&] { kernels::copies_ahead(in.data(), out.data(), groups); }).counts.value();
    };
    const auto one_ahead = counts(1), none_ahead = counts(0);
    CHECK(one_ahead.copy_waits == 64);
    CHECK(one_ahead.waited_for == 32 * 4);
    CHECK(none_ahead.copy_waits == 32);  // the second wait has nothing to wait for
    CHECK(none_ahead.waited_for == 64 * 4);
}

namespace {

/// Returns the meter's findings for a copy that is awaited in this way. Checks the result.
Findings copied(kernels::Wait wait, Order order = Order::forwards) {
    auto in = upload("in", listed<int>(64, [](int i) { return i * i; }));
    auto out = zeros<int>("out", 64);
    const auto seen = observe({.order = order}, [&] { kernels::copy_reversed(wait, in.data(), out.data()); });
    CHECK((out.values() == listed<int>(64, [](int i) { return (63 - i) * (63 - i); })) ==
          (wait == kernels::Wait::right || wait == kernels::Wait::barrier_first ||
           wait == kernels::Wait::no_barrier));
    return seen.findings;
}

}  // namespace

TEST_CASE("a copy has arrived once its thread has waited and all threads have passed a barrier", "[copies]") {
    const auto order = GENERATE(Order::forwards, Order::backwards, Order::shuffled);
    CHECK(copied(kernels::Wait::right, order) == Findings{});
    auto in = upload("in", listed<int>(64, [](int i) { return i + 1; }));
    auto out = zeros<int>("out", 64);
    auto seen = observe({.order = order}, [&] { kernels::copy_with_zeros(in.data(), out.data()); });
    CHECK(seen.findings == Findings{});
    CHECK(out.values() == listed<int>(64, [](int i) { return i % 4 + i / 4 % 5 < 4 ? i + 1 : 0; }));
    seen = observe({.order = order}, [&] { kernels::copy_by_group(true, in.data(), out.data()); });
    CHECK(seen.findings == Findings{});
    CHECK(out.values() == listed<int>(64, [](int i) { return 64 - i; }));
    if (!seen.counts) return;
    // 16 threads copy 16 bytes each: eight sectors, and each quarter of a warp uses all banks once
    CHECK(seen.counts->global_load.requests == 1);
    CHECK(seen.counts->global_load.bytes == 256);
    CHECK(seen.counts->global_load.transactions == 8);
    CHECK(seen.counts->shared_store.bytes == 256);
    CHECK(seen.counts->shared_store.transactions == 2);
}

// Each thread of two warps copies an int and waits for it before the barrier or after it.
TEST_CASE("outstanding copies are counted at each barrier", "[copies]") {
    if (!kata::counts_available()) SKIP("nothing is counted on this back end");
    auto in = upload("in", listed<int>(64, [](int i) { return i; }));
    auto out = zeros<int>("out", 64);
    const auto counted = [&](kernels::Wait wait) {
        return observe({}, [&] { kernels::copy_reversed(wait, in.data(), out.data()); }).counts.value();
    };
    CHECK(counted(kernels::Wait::barrier_first).bytes_ahead == 64 * 4);
    CHECK(counted(kernels::Wait::right).bytes_ahead == 0);
    // The other warp may have run between the barrier and the wait.
    CHECK(counted(kernels::Wait::barrier_first).waited_for == 0);
    CHECK(counted(kernels::Wait::right).waited_for == 64 * 4);
    CHECK(observe({}, [&] { kernels::copy_with_zeros(in.data(), out.data()); }).counts->bytes_ahead == 0);
}

TEST_CASE("a copy arrives even if races are not checked", "[copies]") {
    auto in = upload("in", listed<int>(64, [](int i) { return i + 1; }));
    auto out = zeros<int>("out", 64);
    const auto seen =
        observe({.sample = 1}, [&] { kernels::copy_reversed(kernels::Wait::none, in.data(), out.data()); });
    CHECK(seen.findings == Findings{});  // races are not checked
    observe({.sample = 1}, [&] { kernels::copy_in_dynamic(in.data(), out.data()); });
    CHECK(out.values() == in.values());
}

TEST_CASE("a read before the copy has arrived is found", "[copies]") {
    if (!kata::counts_available()) SKIP("without the meter the numbers are wrong, and nothing says why");
    const auto wait = GENERATE(kernels::Wait::none, kernels::Wait::no_commit, kernels::Wait::too_few);
    const auto order = GENERATE(Order::forwards, Order::backwards, Order::shuffled);
    const auto findings = copied(wait, order);
    REQUIRE(findings.size() == 1);
    CHECK_THAT(findings[0], StartsWith("read before the copy into shared memory has arrived: thread ("));
    CHECK_THAT(findings[0],
               ContainsSubstring("reads shared memory \"s\", element ") &&
                   ContainsSubstring("in " + line_of("read of the copy") + ", where the copy of " +
                                     line_of("copy") + " is still in flight"));
    CHECK_THAT(findings[0], ContainsSubstring("__pipeline_wait_prior(0), and then with a barrier"));
}

TEST_CASE("another thread must not read a copy before a barrier after the wait", "[copies]") {
    if (!kata::counts_available()) SKIP("only the meter knows");
    const auto wait = GENERATE(kernels::Wait::no_barrier, kernels::Wait::barrier_first);
    auto in = upload("in", listed<int>(64, [](int i) { return i; }));
    auto out = zeros<int>("out", 64);
    const auto order = GENERATE(Order::forwards, Order::backwards);
    const auto seen = observe({.order = order}, [&] { kernels::copy_reversed(wait, in.data(), out.data()); });
    REQUIRE(!seen.findings.empty());  // the first reader also finds unwritten shared memory
    CHECK_THAT(seen.findings.front(), ContainsSubstring(line_of("copy")));
    CHECK_THAT(seen.findings.front(), ContainsSubstring(line_of("read of the copy")));
    CHECK(seen.counts->shared_store.bytes == 256);  // although the launch is repeated
}

TEST_CASE("a group that does not wait and a write into a copy in flight are found", "[copies]") {
    if (!kata::counts_available()) SKIP("only the meter knows");
    auto in = upload("in", listed<int>(64, [](int i) { return i; }));
    auto out = zeros<int>("out", 64);
    auto seen = observe({}, [&] { kernels::copy_by_group(false, in.data(), out.data()); });
    REQUIRE(!seen.findings.empty());
    CHECK_THAT(seen.findings[0], ContainsSubstring(line_of("read of the group")));
    seen = observe({}, [&] { kernels::overwrite_copy(in.data(), out.data()); });
    REQUIRE(seen.findings.size() == 1);
    CHECK_THAT(seen.findings[0], StartsWith("write before the copy into shared memory has arrived") &&
                                     ContainsSubstring(line_of("write before the copy")) &&
                                     ContainsSubstring(line_of("overwritten copy")));
}

TEST_CASE("a copy with an unsupported size, target or alignment is refused", "[copies]") {
    auto out = zeros<int>("out", 8);
    CHECK(fault([&] { kernels::copy_badly(16, 0, false, out.data()); }) == "");
    CHECK_THAT(fault([&] { kernels::copy_badly(12, 0, false, out.data()); }),
               StartsWith("__pipeline_memcpy_async in " + line_of("bad copy")) &&
                   ContainsSubstring("copies 12 bytes") && ContainsSubstring("it takes 4, 8 or 16"));
    CHECK_THAT(fault([&] { kernels::copy_badly(8, 4, false, out.data()); }),
               ContainsSubstring("from an address that is not a multiple of 8"));
    CHECK_THAT(fault([&] { kernels::copy_badly(4, 2, false, out.data()); }),
               ContainsSubstring("multiple of 4"));
    if (!kata::counts_available()) return;
    CHECK_THAT(fault([&] { kernels::copy_badly(4, 0, true, out.data()); }),
               StartsWith("__pipeline_memcpy_async copies into shared memory, and thread (0,0,0)"));
    CHECK_THAT(fault([&] { kernels::copy_badly(4, 32, false, out.data()); }),
               StartsWith("out of bounds: thread (0,0,0) of block (0,0,0) reads 4 bytes"));
}

TEST_CASE("an asynchronous copy reads global memory, and a copy by a group reads any memory", "[pipeline]") {
    using enum kernels::Copy_from;
    auto in = upload("in", listed<int>(32, [](int i) { return i; })), out = zeros<int>("out", 32);
    const auto copy = [&](kernels::Copy_from from, bool by_group) {
        return fault([&] { kernels::copy_first_from(from, by_group, in.data(), out.data()); });
    };
    CHECK(copy(global, false) == "");
    for (const auto from : {global, shared, own}) CHECK(copy(from, true) == "");
    if (!kata::counts_available()) return;
    const auto refused = [&](const std::string& source) {
        return "__pipeline_memcpy_async copies from global memory, and thread (0,0,0) of block (0,0,0) "
               "copies from " +
               source + ", in " + line_of("copies from") + ": use an assignment";
    };
    CHECK(copy(shared, false) == refused("shared memory"));
    CHECK(copy(own, false) == refused("a variable of its own"));
}

TEST_CASE("copies through a pipeline arrive stage by stage", "[pipeline]") {
    using enum kernels::Pipe;
    constexpr int batches = 5;
    auto in = upload("in", listed<int>(64 * batches, [](int i) { return i; }));
    auto out = zeros<int>("out", 64 * batches);
    const auto order = GENERATE(Order::forwards, Order::backwards, Order::shuffled);
    const auto run = [&](kernels::Pipe pipe) {
        return observe({.order = order},
                       [&] { kernels::through_pipeline(pipe, in.data(), out.data(), batches); });
    };
    for (const auto pipe : {right, one_stage, of_thread}) {
        CAPTURE(pipe);
        const auto seen = run(pipe);
        CHECK(seen.findings == Findings{});
        CHECK(out.values() == listed<int>(64 * batches, [](int i) { return i / 64 * 64 + 63 - i % 64; }));
        // make_pipeline() and, for each batch, its stage full and its stage empty
        if (seen.counts) CHECK(seen.counts->barriers == (pipe == of_thread ? 2 * batches : 1 + 2 * batches));
        if (seen.counts) CHECK(seen.counts->global_load.bytes == 4 * 64 * batches);
    }
    CHECK_THAT(fault([&] { kernels::through_pipeline(no_release, in.data(), out.data(), batches); }),
               StartsWith("deadlock: ") && ContainsSubstring("64 threads, first (0,0,0), wait at "
                                                             "producer_acquire in " +
                                                             line_of("acquires a stage")));
    if (!kata::counts_available()) return;
    const auto findings = run(no_wait).findings;
    REQUIRE(!findings.empty());
    CHECK_THAT(findings[0], ContainsSubstring("reads in " + line_of("reads a stage")));
}

TEST_CASE("a barrier lets threads arrive without waiting", "[pipeline]") {
    using enum kernels::At_barrier;
    auto in = upload("in", listed<int>(32, [](int i) { return i; })), out = zeros<int>("out", 32);
    const auto order = GENERATE(Order::forwards, Order::backwards, Order::shuffled);
    const auto run = [&](kernels::At_barrier how) {
        return observe({.order = order}, [&] { kernels::at_barrier(how, in.data(), out.data()); });
    };
    CHECK(run(right).findings == Findings{});
    CHECK(out.values() == listed<int>(32, [](int i) { return 31 - i; }));
    CHECK_THAT(fault([&] { kernels::at_barrier(too_many, in.data(), out.data()); }),
               StartsWith("deadlock: ") &&
                   ContainsSubstring("32 threads, first (32,0,0), wait at wait in " +
                                     line_of("waits at the barrier")) &&
                   ContainsSubstring("32 threads, first (0,0,0), left the kernel"));
    if (!kata::counts_available() || order != Order::forwards) return;
    const auto findings = run(no_wait).findings;  // the second warp reads before the first one has arrived
    REQUIRE(!findings.empty());
    CHECK_THAT(findings[0], ContainsSubstring(line_of("reads behind the barrier")));
}
