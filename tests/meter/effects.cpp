// Launches without effect, and causes of wrong results.
#include "suite.hpp"

#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <string>
#include <vector>

TEST_CASE("a launch that does not change memory is reported", "[launches]") {
    using enum kernels::Superfluous;
    auto in = filled<int>("in", 64, 3);
    const auto idle = [&](kernels::Superfluous how) {
        Buffer<int> out("out", 64);
        return observe({}, [&] { kernels::launch_twice(how, in.data(), out.data()); }).idle;
    };
    CHECK(idle(none) == Findings{});
    CHECK(idle(clears_again) == Findings{});
    CHECK(idle(once_more) == Findings{"the 2nd launch, doubled_kernel<<<…>>> in " + line_of("once more") +
                                      ", changes nothing: device memory holds the same as before it"});
    CHECK(idle(all_once_more) ==
          Findings{"the 4th launch, doubled_kernel<<<…>>> in " + line_of("all once more") +
                   ", leaves device memory as it was after the 2nd: what came in between had no effect"});
    CHECK(idle(only_reads).size() == 1);
}

TEST_CASE("a wrong result is explained if an array lacks __shared__ or its values", "[launches]") {
    auto in = filled<float>("in", 64), out = filled<float>("out", 64);
    const auto causes = [&](const std::function<void()>& work) { return observe({}, work).causes; };
    using enum kernels::Lacks;
    const std::string own =
        ", of which each thread has its own, and its index is computed from threadIdx: is "
        "__shared__ missing in front of it?";
    CHECK(causes([&] { kernels::reversed_in_array(true, in.data(), out.data()); }) == Findings{});
    CHECK(causes([&] { kernels::reversed_in_array(false, in.data(), out.data()); }) ==
          Findings{"\"values\" is a local array of reversed_in_local_kernel" + own});
    CHECK(causes([&] { kernels::reversed_in_both(nothing, in.data(), out.data()); }) == Findings{});
    CHECK(causes([&] { kernels::reversed_in_both(shared, in.data(), out.data()); }) ==
          Findings{"\"mine\" is a local array of reversed_in_one_shared_kernel" + own});
    CHECK(causes([&] { kernels::weighed(4, in.data(), out.data()); }) == Findings{});
    CHECK(causes([&] { kernels::weighed(3, in.data(), out.data()); }) ==
          Findings{"\"tail_weights\" is read in " + line_of("weighed") +
                   ", at element 3, where the host has written nothing since the step was called: is there a "
                   "cudaMemcpyToSymbol before the launch, and does it copy all bytes?"});
}

TEST_CASE("work done in a header of this repository is attributed to the line that calls it", "[launches]") {
    auto sum = filled<int>("sum", 1);
    const auto seen = observe({}, [&] { kernels::combined(sum.data()); });
    std::vector<std::string> lines;
    for (const auto& place : seen.places)
        if (place.atomics > 0) lines.push_back(seen.line_of(place));
    CHECK(lines == Findings{line_of("combined")});
}
