// The suite of the reduction chapter: what every step must compute.
#include "judge/trial.hpp"
#include "reduction.problem.hpp"

#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <ios>
#include <limits>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

using namespace reduction::problem;
using kata::only_on_a_gpu;
using kata::Order;
using kata::require_right;
using enum kata::Arithmetic;

TEST_CASE("a step sums up several blocks and a bit", "[equivalence]") { require_right(coded_sum(10007)); }

// A block that reduces fewer elements leaves more partial results than fit into the workspace. The report of
// an access past the workspace would not name the cause.
TEST_CASE("a block reduces 512 elements or more", "[equivalence][rounds]") {
    const auto run = try_on(kata::step(), coded_sum(512));
    if (run.fault) FAIL(*run.fault);
    // A step whose launches have one block each has a different mistake.
    const bool has_blocks = !run.seen.counts || run.seen.counts->blocks > run.seen.launches;
    if (run.seen.launches > 1 && has_blocks)
        FAIL("512 elements take "
             << run.seen.launches
             << " launches: a block reduces fewer than that, and the workspace has no room "
                "for so many partial results\n  make the block larger, or give a "
                "thread more elements: `segment` must be 512 or more");
}

TEST_CASE("a step sums up any number of elements around its warps, blocks and segments", "[equivalence]") {
    // segments of 512, 1024, 2048, 4096 and 8192 elements
    const int n = GENERATE(1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 129, 511, 512, 513, 1023, 1024, 1025, 1531,
                           2047, 2048, 2049, 3583, 3585, 4095, 4096, 4097, 8191, 8192, 8193);
    require_right(coded_sum(n));
}

TEST_CASE("the result for no elements is the identity of the operator", "[equivalence]") {
    require_right(problem<float>({}, sum_of_float));
    require_right(problem<float>({}, max_of_float));
    require_right(problem<double>({}, max_of_double));
    require_right(problem<int>({}, sum_of_int));
    require_right(problem<int>({}, max_of_int));
}

TEST_CASE("a step takes every type and operator", "[equivalence]") {
    const int n = GENERATE(1, 77, 5003);
    require_right(coded_sum<int>(n, 3, sum_of_int));
    require_right(coded_sum<int>(n, 3, counted_sum));
    const auto size = static_cast<std::size_t>(n);
    // Too large for a float.
    require_right(problem(kata::coded<double>(size, 3, 1 << 30), sum_of_double));
    require_right(problem(below_zero<float>(size, 0), max_of_float));
    require_right(problem(below_zero<double>(size, size / 2), max_of_double));
    require_right(problem(below_zero<int>(size, size - 1), max_of_int));
}

TEST_CASE("sums of int above 2^24 are exact", "[equivalence]") {
    const auto [n, base] = GENERATE(table<std::size_t, int>({{101, 1 << 24}, {1501, 1 << 20}}));
    auto values = kata::coded<int>(n, 4);
    for (auto& value : values) value += base;
    require_right(problem(values, sum_of_int));
}

namespace {

/// Returns the lowest numbers of the type, and one number above them.
template <class T>
std::vector<T> lowest(std::size_t n, std::size_t place) {
    std::vector<T> values(n, std::numeric_limits<T>::lowest());
    values[place] /= 2;
    return values;
}

}  // namespace

// 0 changes no sum, and it is above every maximum of negative numbers. The bits of -0.0, read as an int, are
// the lowest int, below the bits of -infinity.
TEST_CASE("a maximum may be 0", "[equivalence]") {
    auto values = below_zero<int>(10007, 6000);
    values[6000] = 0;
    require_right(problem(values, max_of_int));
    const std::size_t n = GENERATE(1u, 5003u);
    auto floats = below_zero<float>(n, n / 2);
    floats[n / 2] = -0.0f;
    require_right(problem(floats, max_of_float));
    auto doubles = below_zero<double>(n, n / 2);
    doubles[n / 2] = -0.0;
    require_right(problem(doubles, max_of_double));
}

TEST_CASE("a maximum may be near the lowest number of its type", "[equivalence]") {
    require_right(problem(lowest<int>(777, 700), max_of_int));
    require_right(problem(lowest<float>(777, 3), max_of_float));
    require_right(problem(lowest<double>(777, 776), max_of_double));
    auto close = lowest<double>(777, 400);  // compared with each other: as floats they are equal
    std::fill(close.begin(), close.end(), -1e9);
    close[400] += 1;
    require_right(problem(close, max_of_double));
}

TEST_CASE("the order of threads and blocks does not matter", "[equivalence]") {
    kata::require_right_in_any_order(coded_sum(10007));
    kata::require_right_in_any_order(problem(below_zero<float>(10007, 10006), max_of_float));
}

TEST_CASE("a launch is right, although the launch before it had another number of blocks",
          "[equivalence][last block]") {
    for (const int blocks : {3, 1, 3, 1, 3, 5, 2}) require_right(coded_sum(blocks * 16384), kata::unmetered);
}

TEST_CASE("numbers that are not whole", "[equivalence]") {
    const std::size_t n = GENERATE(101u, 9001u);
    require_right(problem(kata::reals<float>(n, 7), sum_of_float, false));
    require_right(problem(kata::reals<double>(n, 7), sum_of_double, false));
}

TEST_CASE("a second input gets an answer of its own", "[equivalence]") {
    require_right(coded_sum(5000, 1));
    require_right(coded_sum(5000, 2), {.poison = std::byte{0x3C}});
}

TEST_CASE("infinities reach the result", "[equivalence]") {
    auto values = kata::coded(5003, 1);
    values[4999] = std::numeric_limits<float>::infinity();
    require_right(problem(values, sum_of_float));
    std::fill(values.begin(), values.end(), -std::numeric_limits<float>::infinity());
    require_right(problem(values, max_of_float));
}

TEST_CASE("elements at the end that fill no load of 16 bytes, or no segment, are taken once",
          "[equivalence][wide loads]") {
    const int n = GENERATE(4, 5, 6, 7, 8, 4095, 16379, 16383, 16384, 16385, 2 * 16384 + 3);
    require_right(coded_sum(n));
    require_right(coded_sum<double>(n / 2, 2, sum_of_double));
}

// One multiprocessor can run two blocks, and there are more segments of 16384 elements.
TEST_CASE("a block of a long input reduces several segments, the last of them a short one",
          "[equivalence][last block]") {
    const auto [segments, more] = GENERATE(table<int, int>({{2, 1}, {3, 16383}, {5, 0}, {9, 4099}}));
    require_right(coded_sum(segments * 16384 + more), {{.multiprocessors = 1}});
    require_right(coded_sum<double>(segments * 8192 + more / 2, 2, sum_of_double), {{.multiprocessors = 1}});
}

TEST_CASE("the bits of a sum do not depend on the order of the blocks", "[equivalence][last block]") {
    // The sum of reals is rounded: another order gives other last bits. There are more blocks than a warp has
    // lanes, so several warps of the last block have results to combine.
    const auto p = problem(kata::reals(70 * 16384 + 77, 3), sum_of_float, false);
    std::optional<float> first;
    for (const kata::Conditions& c : {kata::Conditions{.metered = false},
                                      {.order = Order::backwards, .metered = false},
                                      {.order = Order::shuffled, .seed = 2, .metered = false},
                                      {.order = Order::shuffled, .seed = 3, .metered = false}}) {
        Problem<float>::Device device(p, kata::poison);
        const auto run = try_on(kata::step(), p, device, {c});
        if (run.fault) FAIL(*run.fault);
        const float sum = device.result()[0];
        if (first && std::bit_cast<unsigned>(*first) != std::bit_cast<unsigned>(sum))
            FAIL("the sum depends on which block finishes first, or which warp of the last block: "
                 << std::hexfloat << *first << " and " << sum);
        first = sum;
    }
}

TEST_CASE("a large input", "[equivalence]") { require_right(coded_sum(50021)); }

// Blocks of 512 elements leave more than 512 · 512 partial results in three launches.
TEST_CASE("more blocks than a GPU has multiprocessors, and more elements than 16 bits can count",
          "[equivalence]") {
    // Small segments make more blocks than a block may have threads.
    const int tile = kata::this_step().tile, blocks = tile <= 4096 ? 1025 : 135;
    require_right(coded_sum<int>(blocks * tile + 1000, 9, sum_of_int), kata::unmetered);
}

// 513 partial results come before the two that the last launch adds up. The address of this pair is not a
// multiple of its size, and only the meter reports such a load.
TEST_CASE("partial results that begin at an odd element", "[equivalence][thread each]") {
    require_right(coded_sum<int>(513 * 512, 9, sum_of_int));
}

TEST_CASE("a very large input", "[equivalence]") {
    only_on_a_gpu();
    // More than 65535 blocks of 2048 elements, which leave partial results for three launches.
    require_right(
        problem(kata::repeated(kata::coded<int>(kata::prime_period, 1), 65536 * 2048 + 4099), sum_of_int));
    require_right(problem(below_zero<double>(40'000'003, 40'000'002), max_of_double));
}

TEST_CASE("a long input: more elements than a float can count, more blocks than a grid may have along y",
          "[equivalence]") {
    constexpr int few = 1 << 16;
    // Blocks that count one another must all run, and all do if a block has 16384 elements: there are 2049 of
    // them, one more than two blocks may have threads. There are enough multiprocessors for all blocks.
    const bool all_blocks = kata::this_step().tile == 16384;
    const int n =
        all_blocks && std::string_view(kata::backend_name()) == "cpu" ? (1 << 25) + 5 : (1 << 27) + 1;
    if (kata::counts_available() &&
        !kata::shares_out(kata::counted(problem(kata::coded<int>(few, 1), sum_of_int)), few))
        return;
    Long input(n, all_blocks ? kata::poison : kata::zeros);
    kata::require_right_at_ends([&](const Module& step) { input.run(step); }, [&] { return input.fault(); },
                                {.metered = false,
                                 .multiprocessors = all_blocks ? 1100 : kata::Conditions{}.multiprocessors,
                                 .only_ends = !all_blocks},
                                [] {
                                    // Somewhat more blocks, of which the last again has few elements. A float
                                    // can represent this number of elements.
                                    Long even((1 << 27) + (1 << 17) + 32);
                                    return kata::is_right_at_ends([&](const Module& step) { even.run(step); },
                                                                  [&] { return even.fault(); });
                                });
}

namespace {

/// Above this number (n + segment - 1) / segment overflows, which is how many programs compute the number of
/// blocks.
constexpr int nearly_all = 0x7fff0000;

/// Returns a number of elements for which the number of blocks just does not overflow. There are so few packs
/// of 16 bytes that their number never does.
int most_elements() {
    return kata::has_traits(kata::this_step(), "[wide loads]") ? std::numeric_limits<int>::max() : nearly_all;
}

}  // namespace

TEST_CASE("an input of more bytes than 32 bits can count, and of nearly as many elements as an int can count",
          "[equivalence]") {
    kata::require_right_beyond_32_bits<Long>([] { return Long((1 << 24) + 1); },
                                             [] { return Long(most_elements()); });
}

namespace {

template <class T>
void require_right_huge(std::size_t n, Arithmetic arithmetic, std::size_t place) {
    only_on_a_gpu();
    auto values = kata::repeated(kata::coded<T>(kata::prime_period, 11), n);
    if (place < n) values[place] = 100;
    require_right(problem(std::move(values), arithmetic), {{.time_limit = 30}});
}

}  // namespace

TEST_CASE("an input of 2^30 bytes", "[.huge][equivalence]") {
    // Sums of int are exact: 2^30 / 4 elements of at most 15 each, of both signs, stay far below 2^31.
    require_right_huge<int>(std::size_t{1} << 28, sum_of_int, ~std::size_t{0});
    require_right_huge<double>(std::size_t{1} << 27, max_of_double, (std::size_t{1} << 27) - 1);
}

TEST_CASE("an input of more than 2^32 bytes", "[.huge][equivalence]") {
    constexpr std::size_t n = (std::size_t{1} << 30) + 12345;
    require_right_huge<int>(n, sum_of_int, n - 1);
    require_right_huge<float>(n, max_of_float, n - 1);
}

TEST_CASE("as many elements as an int can count", "[.huge][equivalence]") {
    constexpr std::size_t n = std::numeric_limits<int>::max();
    require_right_huge<float>(n, max_of_float, n - 1);
}

namespace {

/// The effect of the step on a sum of ints, and how often it applied the operator.
struct Applied {
    kata::Counts counts;
    unsigned long long times;
};

Applied applied(int n) {
    kata::only_where_counted();
    Problem<int>::Device device(coded_sum<int>(n, 1, counted_sum), kata::poison);
    const auto run = kata::observed_run(
        {}, [&] { device.run(kata::step()); }, [&] { return device.damage(); });
    return {kata::counts_of(run), device.applications.values()[0]};
}

}  // namespace

// Whole segments, and as many partial results as fit into one: step 03 fills up missing elements with the
// identity.
TEST_CASE("n elements take n - 1 applications of the operator", "[solution][rounds]") {
    const auto times = applied(2048).times;
    CHECK(times == 2047);
}

TEST_CASE("an output that starts as the identity takes one application more, and shuffles take many",
          "[solution][atomics]") {
    const auto [c, times] = applied(16384);
    // All lanes apply the operator in five rounds, in each warp and once more in the first one. Each thread
    // starts from the identity, too, so each block needs one more for its atomic.
    const auto shuffled = (c.threads / 32 + c.blocks) * 5 * 32 + c.blocks;
    CHECK(times == 16384 + (kata::has_traits(kata::this_step(), "[shuffles]") ? shuffled : 0));
}

namespace {

/// Returns what the listing of REDUCE-vi 1 computes.
double recursive_sum_as_printed(std::span<double> data) {
    if (data.size() == 1) return data[0];
    const auto stride = data.size() / 2;
    for (std::size_t i = 0; i < stride; ++i) data[i] += data[i + stride];
    return recursive_sum_as_printed(data.first(stride));
}

}  // namespace

TEST_CASE("the recursive sum on the CPU drops the last element of an odd length, as printed", "[limits]") {
    for (const std::size_t n : {1u, 2u, 7u, 8u, 100u, 1001u}) {
        std::vector<double> ones(n, 1), mended = ones;
        CHECK(reduction::recursive_sum(mended) == static_cast<double>(n));
        CHECK((recursive_sum_as_printed(ones) == static_cast<double>(n)) == std::has_single_bit(n));
    }
}

TEST_CASE("sizes outside the limits are refused in one line", "[limits]") {
    const int n = GENERATE(-1, std::numeric_limits<int>::min());
    CHECK_THROWS_AS(reduction::check(n), std::invalid_argument);
}
