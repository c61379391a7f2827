// The suite of the reduction chapter: what every step must compute, and what each of them must gain.
#include "reduction.hpp"

#include "buffer.hpp"
#include "check/compare.hpp"
#include "check/data.hpp"
#include "error.hpp"
#include "suite/suite.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string_view>

using kata::Arithmetic;
using kata::Buffer;
using kata::Module;
using kata::Order;
using enum kata::Arithmetic;

namespace {

constexpr bool is_max(Arithmetic a) { return a == max_of_int || a == max_of_float || a == max_of_double; }

/// The documents' kernels work in place; only these keep their partial results elsewhere.
bool keeps_its_input(const Module& step) {
    constexpr std::array names{"03_shared_memory", "04_hierarchical", "05_coarsened"};
    return std::any_of(names.begin(), names.end(),
                       [&](const char* name) { return step.name().find(name) != std::string::npos; });
}

/// The problem's arrays on the device. With `keeps`, the input must be left as it was.
template <class T>
struct OnDevice {
    int n;
    bool keeps;
    kata::Input<T> in;
    Buffer<T> out, workspace;
    Buffer<unsigned long long> applications{"applications", std::vector<unsigned long long>{0}};

    OnDevice(const std::vector<T>& values, bool keeps, std::byte poison = kata::poison)
        : n(static_cast<int>(values.size())),
          keeps(keeps),
          in("in", values),
          out("out", 1, poison),
          workspace("workspace", reduction::workspace_elements(n), poison) {}

    void run(const Module& step, Arithmetic arithmetic) {
        step.function<decltype(reduce)>("reduce")(
            in.data(), out.data(), n, workspace.data(),
            {arithmetic, arithmetic == counted_sum ? applications.data() : nullptr});
    }
    std::optional<std::string> damage() const {
        if (auto text = keeps ? in.damage() : in.Buffer<T>::damage()) return text;
        if (auto text = workspace.damage()) return text;
        return out.damage();
    }
};

enum class Exactness { exact, rounded };

struct Outcome : kata::Run {
    unsigned long long applications = 0;
};

template <class T>
Outcome attempt(const Module& step, const std::vector<T>& values, Arithmetic arithmetic,
                Exactness how = Exactness::exact, const kata::Conditions& conditions = {},
                std::byte poison = kata::poison) {
    const std::span<const T> all(values);
    const auto n = static_cast<double>(values.size());
    reduction::check(static_cast<int>(values.size()));
    OnDevice<T> device(values, keeps_its_input(step), poison);
    Outcome outcome;
    const auto compare = [&]() -> std::optional<std::string> {
        if (auto text = device.damage()) return text;
        const auto got = device.out.values();
        const kata::Layout layout{{1}, {}, poison};
        const auto expected = is_max(arithmetic) ? reduction::max(all) : reduction::sum(all);
        outcome.applications = device.applications.values()[0];
        if constexpr (std::is_floating_point_v<T>)
            if (how == Exactness::rounded) {
                // A sum of n terms in any order is off by at most n · eps · Σ|terms|; so is the expected one.
                const double eps = std::numeric_limits<T>::epsilon() / 2 + 0x1p-53;
                return kata::difference<T>(got, std::vector<double>{expected},
                                           std::vector<double>{n * eps * reduction::magnitude(all)}, layout);
            }
        return kata::difference<T>(got, std::vector<T>{static_cast<T>(expected)}, layout);
    };
    static_cast<kata::Run&>(outcome) = kata::attempt(
        conditions, [&] { device.run(step, arithmetic); }, compare);
    outcome.outputs = n;  // nothing of interest is said about the one output: the ladder is about the inputs
    outcome.operations = std::max(n - 1, 0.0);
    return outcome;
}

/// Positive and negative numbers, a large one at `place`: whoever loses it, or has another identity than the
/// operator's, gets another maximum.
template <class T>
std::vector<T> below_zero(std::size_t n, std::size_t place) {
    auto values = kata::coded<T>(n, 5);
    for (T& value : values) value -= 100;
    if (place < n) values[place] = -50;
    return values;
}

template <class T>
void require_right(const std::vector<T>& values, Arithmetic arithmetic, Exactness how = Exactness::exact,
                   const kata::Conditions& conditions = {}, std::byte poison = kata::poison) {
    CAPTURE(values.size());
    const auto outcome = attempt(kata::step(), values, arithmetic, how, conditions, poison);
    if (outcome.fault) FAIL(*outcome.fault);
}

void require_right_sum(int n, unsigned seed = 1, const kata::Conditions& conditions = {}) {
    require_right(kata::coded(static_cast<std::size_t>(n), seed), sum_of_float, Exactness::exact, conditions);
}

}  // namespace

TEST_CASE("a step sums up several blocks and a bit", "[equivalence]") { require_right_sum(10007); }

TEST_CASE("a step sums up any number of elements around its warps, blocks and segments", "[equivalence]") {
    // segments of 512, 1024, 2048, 4096 and 8192 elements
    const int n = GENERATE(1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 129, 511, 512, 513, 1023, 1024, 1025, 1531,
                           2047, 2048, 2049, 3583, 3585, 4095, 4096, 4097, 8191, 8192, 8193);
    require_right_sum(n);
}

TEST_CASE("no elements have the identity of the operator", "[equivalence]") {
    require_right(std::vector<float>{}, sum_of_float);
    require_right(std::vector<float>{}, max_of_float);
    require_right(std::vector<double>{}, max_of_double);
    require_right(std::vector<int>{}, sum_of_int);
    require_right(std::vector<int>{}, max_of_int);
}

TEST_CASE("a step takes every type and operator", "[equivalence]") {
    const std::size_t n = GENERATE(1u, 77u, 5003u);
    const std::size_t place = GENERATE_COPY(std::size_t{0}, n / 2, n - 1);
    require_right(below_zero<float>(n, place), max_of_float);
    require_right(below_zero<double>(n, place), max_of_double);
    require_right(below_zero<int>(n, place), max_of_int);
    if (place > 0) return;
    require_right(kata::coded<int>(n, 3), sum_of_int);
    require_right(kata::coded<double>(n, 3), sum_of_double);
    require_right(kata::coded<int>(n, 3), counted_sum);
}

TEST_CASE("the order of threads and blocks does not matter", "[equivalence]") {
    const auto order = GENERATE(Order::backwards, Order::shuffled);
    const unsigned seed = order == Order::shuffled ? GENERATE(1u, 2u) : 1u;
    CAPTURE(order == Order::shuffled, seed);
    require_right_sum(10007, 1, {.order = order, .seed = seed});
    require_right(below_zero<float>(10007, 10006), max_of_float, Exactness::exact,
                  {.order = order, .seed = seed});
}

TEST_CASE("rounding stays within the bound of the sum", "[equivalence]") {
    const std::size_t n = GENERATE(101u, 9001u);
    require_right(kata::reals<float>(n, 7), sum_of_float, Exactness::rounded);
    require_right(kata::reals<double>(n, 7), sum_of_double, Exactness::rounded);
}

TEST_CASE("a second input gets an answer of its own", "[equivalence]") {
    require_right(kata::coded(5000, 1), sum_of_float);
    require_right(kata::coded(5000, 2), sum_of_float, Exactness::exact, {}, std::byte{0x3C});
}

TEST_CASE("infinities reach the result", "[equivalence]") {
    auto values = kata::coded(5003, 1);
    values[4999] = std::numeric_limits<float>::infinity();
    require_right(values, sum_of_float);
    std::fill(values.begin(), values.end(), -std::numeric_limits<float>::infinity());
    require_right(values, max_of_float);
}

TEST_CASE("a large input", "[equivalence]") { require_right_sum(99991); }

TEST_CASE("so many elements that their partial results fill several blocks", "[equivalence]") {
    // 512 · 512 elements leave one block of partial results where a block takes the fewest
    require_right(kata::coded<int>(512 * 512 + 1000, 9), sum_of_int);
}

TEST_CASE("a very large input", "[equivalence]") {
    if (std::string_view(kata::backend_name()) != "gpu") SKIP("for a GPU");
    require_right(kata::coded<int>(40'000'003, 1), sum_of_int);
    require_right(below_zero<double>(40'000'003, 40'000'002), max_of_double);
}

// Data whose reduction is known without going through all of it: a piece of a length that no block divides,
// over and over.

namespace {

constexpr std::size_t piece = 10007;

template <class T>
void repeat_piece(std::vector<T>& values) {
    for (std::size_t i = piece; i < values.size(); i += piece)
        std::copy_n(values.begin(), std::min(piece, values.size() - i),
                    values.begin() + static_cast<std::ptrdiff_t>(i));
}

template <class T>
void require_right_huge(std::size_t n, Arithmetic arithmetic, std::size_t place) {
    if (std::string_view(kata::backend_name()) != "gpu") SKIP("for a GPU");
    std::vector<T> values = kata::coded<T>(piece, 11);
    values.resize(n);
    repeat_piece(values);
    if (place < n) values[place] = 100;
    require_right(values, arithmetic, Exactness::exact, {.time_limit = 30});
}

}  // namespace

TEST_CASE("an input of 2^30 bytes", "[.huge][equivalence]") {
    // Ints, whose sums are exact: 2^30 / 4 elements of at most 15 each do not reach 2^32 by far, as they are
    // of both signs.
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

// What each step gains, counted on whole segments: as many floats as the largest of them has, twice.

namespace {

constexpr int counted_elements = 16384;
using enum kata::Quantity;
using Standing = kata::Claim::Standing;

constexpr kata::Claim claims[] = {
    {"02_convergent", "01_simple", sectors_loaded, 3.9,
     "the elements that a warp reads lie next to each other and fill their sectors", "PMPP-notes 10.5"},
    {"02_convergent", "01_simple", warp_steps, 1.5,
     "a warp without work skips the round, instead of taking one lane through it", "PMPP-notes 10.4"},
    {"03_shared_memory", "02_convergent", sectors_loaded, 2.0,
     "an element is read from global memory once, and partial results from shared memory", "PMPP-notes 10.6"},
    {"03_shared_memory", "02_convergent", bytes_stored, 2000.0,
     "of the partial results only a block's last one goes to global memory", "PMPP-notes 10.6"},
    {"05_coarsened", "04_hierarchical", threads, 4.0,
     "a thread combines 8 elements before the tree begins, instead of 2", "PMPP-notes 10.8"},
    {"05_coarsened", "04_hierarchical", barriers, 4.0, "fewer blocks have fewer trees", "PMPP-notes 10.8"},
    {"05_coarsened", "04_hierarchical", atomics, 4.0, "fewer blocks have fewer results to combine",
     "PMPP-notes 10.8"},
    {"07_neighbored_less", "06_neighbored", warp_steps, 1.2,
     "whole warps are without work, instead of most lanes of every warp", "REDUCE-vi 3"},
    {"08_interleaved", "07_neighbored_less", sectors_loaded, 2.0,
     "the elements that a warp reads lie next to each other and fill their sectors", "REDUCE-vi 4"},
    {"09_unroll2", "08_interleaved", threads, 1.9, "a thread has two elements instead of one", "REDUCE-vi 5"},
    {"09_unroll2", "08_interleaved", barriers, 1.7, "half as many blocks have half as many trees",
     "REDUCE-vi 5"},
    {"10_unroll4", "09_unroll2", threads, 1.8, "a thread has four elements instead of two", "REDUCE-vi 6"},
    {"10_unroll4", "09_unroll2", sectors_loaded, 1.2,
     "a thread keeps the sum of its elements in a register, where 09 has a tree twice as often",
     "REDUCE-vi 6"},
    {"11_unroll8", "10_unroll4", threads, 1.7, "a thread has eight elements instead of four", "REDUCE-vi 7"},
    {"12_unroll_last_warp", "11_unroll8", barriers, 2.5, "the last six rounds are one warp's own business",
     "REDUCE-vi 8"},
    {"13_complete_unroll", "12_unroll_last_warp", warp_steps, 1.0, "there is no loop to count for",
     "REDUCE-vi 9"},
    {"14_template_unroll", "13_complete_unroll", barriers, 1.25,
     "a round that the block does not have costs no barrier", "REDUCE-vi 10"},
    {"14_template_unroll", "13_complete_unroll", warp_steps, 1.0, "nothing is asked about the block",
     "REDUCE-vi 10"},
};

kata::Counts count(const Module& step) {
    return counts_of(attempt(step, kata::coded(counted_elements, 1), sum_of_float));
}

}  // namespace

TEST_CASE("sizes outside the limits are refused in one line", "[limits]") {
    const int n = GENERATE(-1, std::numeric_limits<int>::min());
    CHECK_THROWS_AS(reduction::check(n), std::invalid_argument);
}

namespace {

constexpr int ladder_elements = 65536;

kata::Run ladder(const Module& step) {
    return attempt(step, kata::reals(ladder_elements, 1), sum_of_float, Exactness::rounded);
}

/// Random numbers, a piece of them over and over. Steps that work in place reduce what the run before has
/// left: nobody looks at the sums.
struct Timed final : kata::TimedProblem {
    static std::vector<float> data() {
        std::vector<float> values = kata::reals(piece, 1);
        values.resize(std::size_t{1} << 28);
        repeat_piece(values);
        return values;
    }
    OnDevice<float> device{data(), false};

    Timed() {
        useful_bytes = 4.0 * device.n;
        operations = device.n - 1.0;
    }
    void run(const Module& step) override { device.run(step, sum_of_float); }
};

}  // namespace

const kata::Chapter kata::chapter{
    .name = "reduction",
    .problem = "the sum of 65536 floats (an output: an element that was summed up)",
    .timed_problem = "the sum of 2^28 floats",
    .claims = claims,
    .ladder = ladder,
    .count = count,
    .timed = [](std::optional<int>) { return std::make_unique<Timed>(); },
};
