// The suite of the gemm chapter: what every step must compute, and what each of them must gain.
#include "gemm.hpp"

#include "check/data.hpp"
#include "error.hpp"
#include "judge/accesses.hpp"
#include "judge/excess.hpp"
#include "judge/trial.hpp"

#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

using kata::Buffer;
using kata::Module;
using kata::only_on_a_gpu;
using kata::require_right;
using matrices::Shape;

namespace {

/// The matrix of that many columns, with rows and columns exchanged within each square of this side. It is as
/// large as the squares are that cover it; what they have beyond it is 0, as in tiles.
struct Squares {
    int rows, columns;
    std::vector<float> elements;

    Squares(const std::vector<float>& matrix, int of_rows, int of_columns, int side, bool exchanged)
        : rows((of_rows + side - 1) / side * side),
          columns((of_columns + side - 1) / side * side),
          elements(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)) {
        for (int row = 0; row < of_rows; ++row)
            for (int column = 0; column < of_columns; ++column) {
                const int to_row = exchanged ? row / side * side + column % side : row,
                          to_column = exchanged ? column / side * side + row % side : column;
                elements[static_cast<std::size_t>(to_row * columns + to_column)] =
                    matrix[static_cast<std::size_t>(row * of_columns + column)];
            }
    }
};

/// Of which tiles rows and columns are exchanged, so that a wrong product has the wrong factors: where that
/// explains each element of it.
std::optional<std::string> exchanged_in_tiles(const std::vector<float>& a, const std::vector<float>& b,
                                              const Shape& shape, const std::vector<float>& result) {
    for (const int side : {32, 16, 8})
        for (const auto& [of_a, of_b] :
             {std::pair(true, false), std::pair(false, true), std::pair(true, true)}) {
            const Squares first(a, shape.m, shape.k, side, of_a), second(b, shape.k, shape.n, side, of_b);
            const auto all = matrices::reference(first.elements, second.elements,
                                                 {first.rows, second.columns, first.columns});
            const auto agrees = [&](int row, int column) {
                return static_cast<double>(result[static_cast<std::size_t>(row * shape.n + column)]) ==
                       all[static_cast<std::size_t>(row * second.columns + column)];
            };
            bool all_agree = true;
            for (int row = 0; row < shape.m && all_agree; ++row)
                for (int column = 0; column < shape.n && all_agree; ++column) all_agree = agrees(row, column);
            if (!all_agree) continue;
            const std::string what = of_a && of_b ? "A and B" : of_a ? "A" : "B";
            return "it would be right if rows and columns were exchanged within each square of " +
                   std::to_string(side) + " x " + std::to_string(side) + " of " + what + ": does a tile of " +
                   (of_a && of_b ? "each" : what) +
                   " have its indices the other way round where it is stored, or else where it is read?";
        }
    return std::nullopt;
}

/// In what a step takes A and B.
enum class Factors { floats, bf16, either };

Factors factors_of(const Module& step) { return step.has("gemm_bf16") ? Factors::bf16 : Factors::floats; }

/// As bfloat16 hold them.
std::vector<matrices::Bf16> narrow(const std::vector<float>& values) {
    std::vector<matrices::Bf16> narrow(values.size());
    std::transform(values.begin(), values.end(), narrow.begin(), matrices::to_bf16);
    return narrow;
}

struct Problem {
    Shape shape;
    std::vector<float> a, b;
    bool exact = true;
    Factors factors = factors_of(kata::step());

    std::string text() const {
        return "m = " + std::to_string(shape.m) + ", n = " + std::to_string(shape.n) +
               ", k = " + std::to_string(shape.k);
    }
    double outputs() const { return static_cast<double>(shape.elements_of_c()); }
    double operations() const { return matrices::operations(shape); }

    kata::Expected expected() const {
        factors == Factors::bf16 ? matrices::check_bf16(shape) : matrices::check(shape);
        kata::Expected e{matrices::reference(a, b, shape), {}, {{shape.n, shape.m}, {32, 32}}};
        if (exact) return e;
        // A sum of k products in any order is off by at most k · eps · Σ|terms|, to first order in eps.
        const double off = factors == Factors::bf16 ? matrices::bf16_rounding(shape.k)
                                                    : (shape.k + 1) * kata::rounding<float>;
        e.bound = matrices::magnitude(a, b, shape);
        for (auto& bound : e.bound) bound *= off;
        return e;
    }

    /// For which other matrices a wrong result is right, or else what its first wrong element is made of.
    std::optional<std::string> made_of(const Module& step, const kata::Conditions& conditions,
                                       const std::vector<float>& result) const {
        constexpr std::size_t few = 16;  // of so few elements another cause may make the same
        constexpr std::size_t asked_first = 8, most_asked = 64;  // each takes a run or two
        const auto count = result.size();
        if (!exact || shape.k == 0 ||
            count * static_cast<std::size_t>(shape.k) >= 16 * kata::too_large_to_ask)
            return std::nullopt;
        const auto is_of = [&](const std::vector<float>& first, const std::vector<float>& second) {
            const auto all = matrices::reference(first, second, shape);
            return count >= few && std::equal(result.begin(), result.end(), all.begin(),
                                              [](float x, double y) { return static_cast<double>(x) == y; });
        };
        const auto transposed = [](const std::vector<float>& matrix, int rows, int columns) {
            auto other = matrix;
            for (int row = 0; row < rows; ++row)
                for (int column = 0; column < columns; ++column)
                    other[static_cast<std::size_t>(row * columns + column)] =
                        matrix[static_cast<std::size_t>(column * rows + row)];
            return other;
        };
        const std::string read = "it would be right if ", stored =
                                                              " were stored column by column: is its index "
                                                              "column * height + row?";
        if (is_of(a, transposed(b, shape.k, shape.n))) return read + "B" + stored;
        if (is_of(transposed(a, shape.m, shape.k), b)) return read + "A" + stored;
        if (count >= few)
            if (const auto text = exchanged_in_tiles(a, b, shape, result)) return text;

        const auto right = matrices::reference(a, b, shape);
        const auto wrong = static_cast<std::size_t>(
            std::mismatch(result.begin(), result.end(), right.begin()).first - result.begin());
        if (wrong == count) return std::nullopt;
        const auto n = static_cast<std::size_t>(shape.n), k = static_cast<std::size_t>(shape.k);
        const auto row = wrong / n, column = wrong % n;
        // Of the products of this element only those that have a 1 in A, which has no other; B is 1
        // throughout.
        const auto sum_of = [&](const std::vector<int>& ones) {
            auto other = *this;
            other.b.assign(b.size(), 1);
            other.a.assign(a.size(), 0);
            std::copy(ones.begin(), ones.end(), other.a.begin() + static_cast<std::ptrdiff_t>(row * k));
            return kata::asked(step, other, conditions,
                               [&](const auto& c) { return kata::if_written(c[wrong]); });
        };
        const auto of_c =
            "what row " + std::to_string(row) + ", column " + std::to_string(column) + " of C is made of: ";
        if (const auto text = other_factor(step, conditions, wrong, 0, asked_first)) return of_c + *text;
        if (const auto text = kata::miscount(k, 0, k, sum_of, "product")) return of_c + *text;

        if (const auto text = other_factor(step, conditions, wrong, asked_first, most_asked))
            return of_c + *text;
        return std::nullopt;
    }

    /// Of the products `from` up to `to` of an element of C, the first that has an element of A where it
    /// should, and another one of B: "A[0][3] is multiplied by B[4][0], and not by B[3][0]".
    std::optional<std::string> other_factor(const Module& step, const kata::Conditions& conditions,
                                            std::size_t of_c, std::size_t from, std::size_t to) const {
        const auto n = static_cast<std::size_t>(shape.n), k = static_cast<std::size_t>(shape.k);
        const auto row = of_c / n, column = of_c % n;
        constexpr std::size_t bf16_counts_to = 256;
        if (factors == Factors::bf16 && b.size() > bf16_counts_to) return std::nullopt;
        const auto element = [](const char* of, std::size_t in_row, std::size_t in_column) {
            return std::string(of) + "[" + std::to_string(in_row) + "][" + std::to_string(in_column) + "]";
        };
        for (auto i = from; i < std::min(k, to); ++i) {
            auto other = *this;
            other.a.assign(a.size(), 0);
            other.a[row * k + i] = 1;
            // Elements of B are numbered from the first on, and from the last on: of one alone both numbers
            // agree.
            const auto numbered = [&](auto number_of) {
                for (std::size_t at = 0; at < b.size(); ++at) other.b[at] = static_cast<float>(number_of(at));
                return kata::asked(step, other, conditions,
                                   [&](const auto& c) { return kata::if_written(c[of_c]); });
            };
            const auto number = numbered([](std::size_t at) { return at + 1; });
            if (!number || *number == static_cast<double>(i * n + column + 1)) continue;
            const auto from_last = numbered([&](std::size_t at) { return b.size() - at; });
            const auto last = static_cast<double>(b.size());
            if (!from_last || *number + *from_last != last + 1) continue;
            if (*number != std::floor(*number) || *number < 1 || *number > last) continue;
            const auto partner = static_cast<std::size_t>(*number) - 1;
            return element("A", row, i) + " is multiplied by " + element("B", partner / n, partner % n) +
                   ", and not by " + element("B", i, column);
        }
        return std::nullopt;
    }

    struct Device {
        template <class T>
        struct Pair {
            kata::Input<T> a, b;
        };
        Shape shape;
        std::optional<Pair<float>> floats = {};
        std::optional<Pair<matrices::Bf16>> bf16 = {};
        Buffer<float> c;

        explicit Device(const Problem& p, std::byte poison)
            : shape(p.shape), c("C", p.shape.elements_of_c(), poison) {
            if (p.factors != Factors::bf16) floats.emplace(Pair<float>{{"A", p.a}, {"B", p.b}});
            if (p.factors != Factors::floats)
                bf16.emplace(Pair<matrices::Bf16>{{"A", narrow(p.a)}, {"B", narrow(p.b)}});
        }
        void run(const Module& step) {
            const auto call = [&](auto* function, auto& factors) {
                function(factors.a.data(), factors.b.data(), c.data(), shape.m, shape.n, shape.k);
            };
            if (factors_of(step) == Factors::bf16)
                call(step.function<GemmBf16>("gemm_bf16"), bf16.value());
            else
                call(step.function<decltype(gemm)>("gemm"), floats.value());
        }
        std::optional<std::string> damage() const {
            const auto of_factors = [](const auto& pair) {
                return pair ? kata::damage_of(pair->a, pair->b) : std::nullopt;
            };
            if (auto text = of_factors(floats)) return text;
            if (auto text = of_factors(bf16)) return text;
            return c.damage();
        }
        auto result() const { return c.values(); }
    };
};

/// Elements along K that a step has on chip at a time.
constexpr std::pair<std::string_view, unsigned> depths[] = {
    {"02_shared_memory", 32}, {"03_thread_tile_1d", 8},   {"04_thread_tile_2d", 8},
    {"05_wide_loads", 8},     {"06_warp_tile", 8},        {"07_async_copies", 8},
    {"08_large_tiles", 16},   {"09_fragments_ahead", 16}, {"11_tensor_cores", 32}};

/// The shape, for a step that takes it: in bfloat16 with n and k rounded up to multiples of eight.
Shape taken(Shape s, Factors factors) {
    const auto up = [](int length) {
        return (length + matrices::bf16_granule - 1) / matrices::bf16_granule * matrices::bf16_granule;
    };
    if (factors == Factors::bf16) s.n = up(s.n), s.k = up(s.k);
    return s;
}

/// Small integers: every sum is exact in float, whatever the order, and a wrong index shows.
Problem coded(const Shape& for_floats, unsigned seed, Factors factors) {
    const auto s = taken(for_floats, factors);
    return {s, kata::coded(s.elements_of_a(), seed), kata::coded(s.elements_of_b(), seed + 1000), true,
            factors};
}
Problem coded(const Shape& s, unsigned seed = 1) { return coded(s, seed, factors_of(kata::step())); }

/// Of what the step takes, so that nothing is off before it has begun.
Problem real(const Shape& for_floats, unsigned seed, Factors factors) {
    const auto s = taken(for_floats, factors);
    Problem p{s, kata::reals(s.elements_of_a(), seed), kata::reals(s.elements_of_b(), seed + 1000), false,
              factors};
    if (factors == Factors::bf16)
        for (auto* matrix : {&p.a, &p.b})
            for (auto& value : *matrix) value = matrices::to_float(matrices::to_bf16(value));
    return p;
}
Problem real(const Shape& s, unsigned seed = 1) { return real(s, seed, factors_of(kata::step())); }

}  // namespace

TEST_CASE("steps 01 to 10 multiply floats, steps from 11 on bfloat16", "[equivalence]") {
    const bool bf16 = kata::step_name() >= "11";
    if (!kata::step().has(bf16 ? "gemm_bf16" : "gemm"))
        FAIL("the step defines no " << (bf16 ? "gemm_bf16" : "gemm") << "(): " << (bf16 ? "bf16" : "gemm")
                                    << ".cuh says what it defines");
    SUCCEED();
}

TEST_CASE("a step multiplies matrices of several blocks and a bit", "[equivalence]") {
    require_right(coded({70, 75, 37}));  // large enough for a mistake to show its pattern
}

TEST_CASE("a step multiplies matrices of every size around its block and tiles", "[equivalence]") {
    // around the warp, the tiles of C (32, 64 and 128), the tiles along K (8 and 32), primes
    const auto [m, n, k] = GENERATE(table<int, int, int>({{1, 1, 1},
                                                          {2, 1, 3},
                                                          {1, 2, 2},
                                                          {5, 3, 101},
                                                          {31, 33, 7},
                                                          {32, 32, 32},
                                                          {33, 31, 9},
                                                          {64, 64, 8},
                                                          {63, 65, 33},
                                                          {65, 63, 31},
                                                          {97, 5, 16},
                                                          {3, 101, 15},
                                                          {128, 128, 8},
                                                          {127, 129, 11},
                                                          {129, 1, 5},
                                                          {33, 65, 96},
                                                          {1, 70, 64}}));
    require_right(coded({m, n, k}));
}

TEST_CASE(
    "rows of A, B and C begin at multiples of 16 bytes, or do not",
    "[step][05_wide_loads][06_warp_tile][07_async_copies][08_large_tiles][09_fragments_ahead][10_stream_k]") {
    // k and n, which are how long the rows are, each a multiple of four, of none and of two
    const auto [m, n, k] = GENERATE(table<int, int, int>({{9, 36, 12},
                                                          {33, 36, 13},
                                                          {33, 37, 12},
                                                          {5, 38, 10},
                                                          {130, 132, 20},
                                                          {1, 4, 4},
                                                          {3, 4, 1},
                                                          {3, 1, 4}}));
    require_right(coded({m, n, k}));
}

TEST_CASE("a block is wholly in C, and its rows and its K end anywhere",
          "[step][07_async_copies][08_large_tiles][09_fragments_ahead][10_stream_k][11_tensor_cores]") {
    // Whole blocks of step 08, and more tiles along K than there are stages; what is asked once for all
    // copies of a tile must be asked of each way in which it can end: of the rows alone and of the columns
    // alone, too. The last rows of B begin at multiples of 8 bytes.
    const auto [m, n, k] = GENERATE(table<int, int, int>(
        {{128, 256, 72}, {129, 257, 33}, {129, 256, 36}, {128, 260, 32}, {128, 258, 32}}));
    require_right(coded({m, n, k}));
}

// Of tiles of 128 x 128 and of those that divide them: what is asked once for all elements of a tile must be
// asked of rows, of columns and of K.
TEST_CASE("of rows, columns and K all but one are whole tiles",
          "[step][02_shared_memory][03_thread_tile_1d][04_thread_tile_2d][05_wide_loads][06_warp_tile]") {
    const auto shape = GENERATE(Shape{129, 128, 32}, Shape{128, 129, 32}, Shape{128, 128, 33});
    require_right(coded(shape));
}

TEST_CASE("a product without rows or columns is no work and no error", "[equivalence]") {
    const auto [m, n, k] = GENERATE(table<int, int, int>({{0, 0, 0}, {0, 5, 3}, {5, 0, 3}}));
    require_right(coded({m, n, k}));
}

TEST_CASE("a sum of no products is zero", "[equivalence]") {
    require_right(coded({40, 35, 0}), {.poison = kata::nan_poison});
}

TEST_CASE("the order of threads and blocks does not matter", "[equivalence]") {
    kata::require_right_in_any_order(coded({35, 67, 37}));
}

TEST_CASE("rounding stays within the bound of the sum", "[equivalence]") {
    const int k = GENERATE(2, 45);
    require_right(real({41, 53, k}, 7));
}

TEST_CASE("a second product gets an answer of its own", "[equivalence]") {
    kata::require_answers_of_their_own(coded({40, 40, 10}, 1), coded({40, 40, 10}, 2));
}

TEST_CASE("infinities and NaN reach the elements that see them, and no others", "[equivalence]") {
    // In the first and last elements of rows of A and columns of B: a tile that hangs over the end of a row
    // has the beginning of the next one beside it.
    constexpr float inf = std::numeric_limits<float>::infinity(),
                    nan = std::numeric_limits<float>::quiet_NaN();
    // The third ones have rows that begin at multiples of 16 bytes, and of which the tiles hang over the end.
    // The last K ends in a tile that goes where an earlier one has been, in steps with stages, too.
    const auto [k, n] = GENERATE(table<int, int>({{21, 66}, {37, 66}, {28, 68}, {72, 68}}));
    auto p = coded({70, n, k});
    const auto a = [&](int row, int i) -> float& {
        return p.a[static_cast<std::size_t>(row * p.shape.k + i)];
    };
    const auto b = [&](int i, int col) -> float& {
        return p.b[static_cast<std::size_t>(i * p.shape.n + col)];
    };
    SECTION("in A") {
        a(0, 20) = inf;
        a(9, 0) = -inf;
        a(33, 3) = nan;
        a(69, 20) = inf;
    }
    SECTION("in B") {
        b(0, 0) = inf;
        b(7, 31) = nan;
        b(20, 40) = -inf;
        b(20, 65) = inf;
    }
    // What lies behind the end of K in a tile that is filled up in one of the two matrices only, 0 there and
    // here what was left by the tile before, makes NaN of an infinity.
    SECTION("in a whole column of B") {
        for (int i = 0; i < k; ++i) a(12, i) = 1, b(i, 40) = inf;
    }
    SECTION("in a whole row of A") {
        for (int i = 0; i < k; ++i) a(50, i) = inf, b(i, 3) = 1;
    }
    // Who leaves out products with a zero makes a number of it.
    SECTION("where the other matrix is zero") {
        for (int row : {0, 31, 69}) a(row, 20) = 0;
        b(20, 40) = inf;
        a(9, 7) = -inf;
        for (int col : {0, 32, 65}) b(7, col) = 0;
    }
    // So does who leaves out tiles that are all zeros.
    SECTION("in B, where all of A is zero") {
        std::fill(p.a.begin(), p.a.end(), 0.0f);
        b(7, 31) = nan;
        b(20, 40) = -inf;
    }
    SECTION("in A, where all of B is zero") {
        std::fill(p.b.begin(), p.b.end(), 0.0f);
        a(33, 3) = nan;
        a(69, 20) = inf;
    }
    SECTION("in both") {
        a(12, 4) = inf;
        a(69, 0) = -inf;
        b(4, 17) = -inf;
        b(20, 65) = inf;
    }
    require_right(p, kata::unmetered);  // what is read where, other sizes show
}

TEST_CASE("large matrices", "[equivalence]") { require_right(coded({193, 161, 24})); }

// Whole tiles of any size up to 256, and more of them one way than the other. Who counts blocks otherwise
// where nothing is left over leaves tiles out.
TEST_CASE("whole tiles, and more rows than columns of them or fewer", "[equivalence]") {
    const auto shape = GENERATE(Shape{512, 256, 32}, Shape{256, 512, 32});
    require_right(coded(shape), kata::unmetered);
}

// With tiles of 128 x 256, and 132 multiprocessors on a GPU: five tiles of 27 phases, in shares of two, of
// which one goes on in the next tile; a whole wave of tiles, and one more; and fewer phases than
// multiprocessors. The same with the six that the CPU back end has here: four tiles of seven phases, in
// shares of five, of which the last is shorter.
TEST_CASE("shares of tiles begin and end anywhere", "[step][10_stream_k]") {
    const auto [of_six, of_132] = GENERATE(table<Shape, Shape>({
        {{100, 770, 110}, {100, 1280, 430}},
        {{100, 1700, 20}, {896, 4864, 20}},
        {{130, 200, 30}, {130, 257, 161}},
    }));
    const bool few = std::string_view(kata::backend_name()) == "cpu";
    require_right(coded(few ? of_six : of_132),
                  {.conditions = {.multiprocessors = 6}, .poison = kata::nan_poison});
}

// Whoever adds up shares as they come has other bits from run to run.
TEST_CASE("the sums are the same bits, whichever block is done first", "[step][10_stream_k]") {
    const auto p = real({20, 260, 100}, 7);  // two tiles, of seven shares each
    const auto sums = [&](const kata::Conditions& conditions) {
        Problem::Device device(p, kata::poison);
        const auto run = try_on(kata::step(), p, device, {conditions});
        if (run.fault) FAIL(*run.fault);
        return device.result();
    };
    const auto first = sums({.metered = false});
    for (const unsigned seed : {1u, 2u, 3u})
        if (sums({.order = kata::Order::shuffled, .seed = seed, .metered = false}) != first)
            FAIL(
                "the result depends on which block is done first: the sums of shares must be added up in a "
                "fixed order, as rounding makes another sum of each order");
    SUCCEED();
}

// More tiles along K than a byte counts. In step 10, whose blocks go through them as those of step 09 do,
// that would take a second.
TEST_CASE("more phases than a byte counts",
          "[step][02_shared_memory][03_thread_tile_1d][04_thread_tile_2d][05_wide_loads][06_warp_tile]"
          "[07_async_copies][08_large_tiles][09_fragments_ahead][11_tensor_cores]") {
    // Copies that go where a tile lies still are seen by the meter alone, for which tiles of step 07 are
    // small enough.
    const bool metered = kata::step_name() == "07_async_copies";
    for (const auto& [step, depth] : depths)
        if (step == kata::step_name())
            require_right(coded({1, 1, 257 * static_cast<int>(depth) + 1}),
                          {{.most_steps = 400'000'000, .metered = metered}});
}

// Of tiles of 32, 64 and 128 they are 73, 37 and 19: no multiple of 4, of 8 or of 16. Blocks that are
// numbered in groups of so many rows or columns, which share more of what is cached, have a short group at
// the end.
TEST_CASE("more rows or columns of tiles than some groups have, and a short group at the end",
          "[equivalence]") {
    const auto shape = GENERATE(Shape{2310, 200, 3}, Shape{200, 2310, 3});
    require_right(coded(shape), kata::unmetered);
}

// Of 128 x 256 results they are 182.
TEST_CASE("more tiles of C than there are blocks that stay, each with a sum of its own",
          "[equivalence][step][14_producer][15_clusters]") {
    require_right(coded({13 * 128, 14 * 256, 24}));
}

// The blocks of a cluster share K, and tiles reach over the ends of C.
TEST_CASE("few tiles of C, and a long K", "[equivalence][step][15_clusters]") {
    const auto shape = GENERATE(Shape{200, 264, 2504}, Shape{1, 8, 4104});
    require_right(coded(shape));
}

// Also of more rows or columns than 15 bits count.
TEST_CASE("more blocks than a block may have threads: grid and block cannot be exchanged",
          "[step][01_naive]") {
    const auto shape = GENERATE(Shape{1, 1025 * 32, 1}, Shape{1025 * 32, 1, 1}, Shape{65537, 1, 1});
    require_right(coded(shape), kata::unmetered);
}

namespace {

/// A row of this length, of C and of B, of which all is 0 but the ends; what else B has is multiplied by 0.
template <class T>
void require_ends_of_a_row(int for_floats, const char* entry, T (*made)(float)) {
    const auto shape = taken({1, for_floats, 1}, factors_of(kata::step()));
    const int n = shape.n, k = shape.k;
    Buffer<T> a("a", static_cast<std::size_t>(k), kata::zeros),
        b("b", static_cast<std::size_t>(k) * static_cast<std::size_t>(n), kata::zeros);
    Buffer<float> c("c", static_cast<std::size_t>(n), kata::zeros);
    a.set(0, made(2));
    b.set(0, made(3));
    b.set(static_cast<std::size_t>(n - 2), made(5));
    b.set(static_cast<std::size_t>(n - 1), made(7));
    kata::require_right_at_ends(
        [&](const Module& step) {
            step.function<void(const T*, const T*, float*, int, int, int)>(entry)(a.data(), b.data(),
                                                                                  c.data(), shape.m, n, k);
        },
        [&]() -> std::optional<std::string> {
            for (const auto& [i, expected] : {std::pair(0, 6), std::pair(n - 2, 10), std::pair(n - 1, 14)})
                if (c.element(static_cast<std::size_t>(i)) != expected)
                    return "column " + std::to_string(i) + " of " + std::to_string(n) + ": expected " +
                           std::to_string(expected) + ", got " +
                           std::to_string(c.element(static_cast<std::size_t>(i)));
            return kata::damage_of(a, b, c);
        });
}

}  // namespace

// With tiles of 64 rows they are too few blocks for running only those at the ends.
TEST_CASE("as many rows as there may be", "[equivalence][step][01_naive][02_shared_memory]") {
    constexpr int m = matrices::max_rows;
    Buffer<float> a("a", m, kata::zeros), b("b", std::vector<float>{2}), c("c", m, kata::zeros);
    a.set(0, 3);
    a.set(m - 2, 5);
    a.set(m - 1, 7);
    kata::require_right_at_ends(
        [&](const Module& step) {
            step.function<decltype(gemm)>("gemm")(a.data(), b.data(), c.data(), m, 1, 1);
        },
        [&]() -> std::optional<std::string> {
            for (const auto& [i, expected] : {std::pair(0, 6), std::pair(m - 2, 10), std::pair(m - 1, 14)})
                if (c.element(i) != expected)
                    return "row " + std::to_string(i) + " of " + std::to_string(m) + ": expected " +
                           std::to_string(expected) + ", got " + std::to_string(c.element(i));
            return kata::damage_of(a, b, c);
        });
}

namespace {

/// Matrices that are zero but in two of their corners.
template <class Element>
struct Corners {
    Shape shape;
    Buffer<Element> a, b;
    Buffer<float> c;

    explicit Corners(const Shape& s)
        : shape(s),
          a("a", s.elements_of_a(), kata::zeros),
          b("b", s.elements_of_b(), kata::zeros),
          c("c", s.elements_of_c(), kata::zeros) {
        a.set(0, as_factor(2));
        a.set(s.elements_of_a() - 1, as_factor(3));
        b.set(0, as_factor(5));
        b.set(s.elements_of_b() - 1, as_factor(7));
    }
    std::string text() const {
        return "m = " + std::to_string(shape.m) + ", n = " + std::to_string(shape.n) +
               ", k = " + std::to_string(shape.k);
    }
    std::size_t elements() const { return shape.elements_of_c(); }
    void run(const Module& step) {
        const auto call = [&](auto* function) {
            function(a.data(), b.data(), c.data(), shape.m, shape.n, shape.k);
        };
        if constexpr (std::is_same_v<Element, float>)
            call(step.function<decltype(gemm)>("gemm"));
        else
            call(step.function<GemmBf16>("gemm_bf16"));
    }
    /// The first element is that of the first corners, the last one of the last, unless it is both.
    std::optional<std::string> fault() const {
        const auto last = elements() - 1;
        for (const auto& [i, expected] : {std::pair(std::size_t{0}, 10), std::pair(last, 21)})
            if (c.element(i) != expected)
                return "element " + std::to_string(i) + " of " + std::to_string(elements()) + ": expected " +
                       std::to_string(expected) + ", got " + std::to_string(c.element(i));
        if (auto text = kata::damage_of(a, b)) return text;
        return c.damage();
    }

  private:
    static Element as_factor(float value) {
        if constexpr (std::is_same_v<Element, float>)
            return value;
        else
            return matrices::to_bf16(value);
    }
};

template <class Element>
void require_right_beyond_32_bits(const Shape& few, const Shape& many) {
    kata::require_right_beyond_32_bits<Corners<Element>>([&] { return Corners<Element>(few); },
                                                         [&] { return Corners<Element>(many); });
}

}  // namespace

TEST_CASE("a row of more blocks than a grid has along y", "[equivalence]") {
    constexpr int n = 65536 * 128 + 5;
    // Step 10 may share out all tiles. Then it has a block for each multiprocessor, however many tiles these
    // have to go through, and no block is the one of the ends.
    if (kata::step_name() == "10_stream_k" && kata::counts_available()) {
        Corners<float> p({1, n, 1});
        const auto shares = kata::shares_of(p);
        if (!shares || shares->each > 16) {
            SUCCEED("a thread would be too long in going through the row");
            return;
        }
    }
    if (factors_of(kata::step()) == Factors::bf16)
        require_ends_of_a_row(n, "gemm_bf16", matrices::to_bf16);
    else
        require_ends_of_a_row<float>(n, "gemm", [](float value) { return value; });
}

TEST_CASE("matrices of more bytes than 32 bits count", "[equivalence]") {
    if (factors_of(kata::step()) == Factors::bf16) {
        const auto [few, many] = GENERATE(table<Shape, Shape>({
            // Of A and B, whose elements have two bytes, more than an int counts.
            {{2051, 2056, 8}, {32771, 32808, 8}},             // C
            {{1, 1 << 20, 8}, {1, (1 << 27) + 8, 8}},         // B
            {{16400, 8, 72}, {matrices::max_rows, 8, 1032}},  // A
        }));
        require_right_beyond_32_bits<matrices::Bf16>(few, many);
    } else {
        const auto [few, many] = GENERATE(table<Shape, Shape>({
            {{2051, 2049, 3}, {32771, 32803, 3}},             // C
            {{1, 1 << 20, 9}, {1, (1 << 27) + 5, 9}},         // B
            {{16400, 1, 65}, {matrices::max_rows, 1, 1025}},  // A
        }));
        require_right_beyond_32_bits<float>(few, many);
    }
}

TEST_CASE("very large matrices", "[equivalence]") {
    only_on_a_gpu();
    const auto [m, n, k] = GENERATE(table<int, int, int>(
        {{1031, 2053, 517}, {matrices::max_rows, 3, 2}, {3, 16'777'259, 2}, {3, 2, 4'194'319}}));
    // Sums of four million products are exact in float where all are 1 or -1.
    const auto s = taken({m, n, k}, factors_of(kata::step()));
    require_right(k > 70'000
                      ? Problem{s, kata::coded(s.elements_of_a(), 1, 1), kata::coded(s.elements_of_b(), 2, 1)}
                      : coded(s));
}

TEST_CASE("C of 2^30 bytes", "[.huge][equivalence]") {
    only_on_a_gpu();
    require_right(coded({16384, 16384, 3}));
}

TEST_CASE("C of more than 2^32 bytes", "[.huge][equivalence]") {
    only_on_a_gpu();
    require_right(coded({65536, 16411, 2}));
}

TEST_CASE("neighbouring threads take neighbouring columns", "[step][01_naive]") {
    const auto c = kata::counted(coded({64, 64, 16}));
    // A warp that covers whole rows of its block loads 1 sector of A and 4 of B for 32 products; with rows
    // and columns exchanged it would be 32 and 1. Blocks of other shapes lie between.
    const double per_warp = 32.0 * static_cast<double>(c.global_load.transactions) / (64 * 64 * 16);
    kata::require_at_most(10, per_warp,
                          "the step does not gain what it is for: threadIdx.x must "
                          "count columns, or neighbouring threads read elements that lie rows apart",
                          "32-byte sectors loaded for 32 products", ", and 5 were to be had");
}

// What each step gains, counted on whole tiles of 32 to 256 elements: with the largest, a block for each
// multiprocessor of kata::machine.

namespace {

constexpr Shape counted_shape{512, 1024, 32};
/// Four tiles of step 08, of 16 phases each: what step 10 is about.
constexpr Shape few_tiles{256, 512, 256};

const kata::Step steps[] = {
    {.name = "01_naive", .traits = "[base]"},
    {.name = "02_shared_memory",
     .before = "01_naive",
     .traits = "[base]",
     .beats =
         {
             {"01_naive", "bytes_loaded", 16.0,
              "a block of 32 x 32 threads loads an element once for a whole row or column of them",
              "SGEMM-1D"},
             // Times, of 4096 x 4096 matrices. On an H100 (sm_90):
             // 1.46 times: 6.2 and 9.0 TFLOP/s.
             {"01_naive", "milliseconds", 1.2, "the rereading moves on chip", "SGEMM-1D"},
         }},
    {.name = "03_thread_tile_1d",
     .before = "02_shared_memory",
     .traits = "[base]",
     .beats =
         {
             {"02_shared_memory", "bytes_loaded", 1.8,
              "a tile of C of 64 x 64 needs half as many elements for each of its results as one of 32 x 32",
              "SGEMM-1D"},
             // 2K of step 02 against 9K/8, and the stores into the tiles: K/16 against K/32.
             {"02_shared_memory", "shared_passes", 1.6,
              "an element of B that a thread has read from shared memory serves eight results", "SGEMM-1D"},
             // 1.95 times: 9.0 and 17.6 TFLOP/s.
             {"02_shared_memory", "milliseconds", 1.5,
              "a thread loads less from shared memory for each result", "SGEMM-1D"},
             // The document has 2.2 times, on a GPU that it does not name, at about 8600 GFLOP/s.
             {"02_shared_memory", "milliseconds", 2.2,
              "a thread loads less from shared memory for each result", "SGEMM-1D",
              kata::Claim::Standing::refuted},
         }},
    {.name = "04_thread_tile_2d",
     .before = "03_thread_tile_1d",
     .traits = "[base]",
     .beats =
         {
             {"03_thread_tile_1d", "bytes_loaded", 1.8,
              "a tile of C of 128 x 128 needs half as many elements for each of its results as one of 64 x "
              "64",
              "SGEMM-1D, announced"},
             // 9K/8 of step 03 against K/4: 4.35 times less. Squares of neighbouring results make as many
             // loads and lose most of it to bank conflicts, 1.51 times less, which nvcc mends with wide
             // loads: right, too.
             {"03_thread_tile_1d", "shared_passes", 1.2,
              "in a square of results what a thread has read serves a whole row or column",
              "SGEMM-1D, announced"},
             // 1.83 times: 17.6 and 32.3 TFLOP/s; a style with more bank conflicts (boehm) 1.42.
             {"03_thread_tile_1d", "milliseconds", 1.35,
              "a square of results shares more of what a thread has read than a column does",
              "SGEMM-1D, announced"},
         }},
    {.name = "05_wide_loads",
     .before = "04_thread_tile_2d",
     .traits = "[base]",
     .beats =
         {
             // 17 passes in each place along K, with the stores into the tiles, against 13. With packs side
             // by side
             // they are 21: the lanes reach every other pack, half of the banks.
             {"04_thread_tile_2d", "shared_passes", 1.2,
              "of eight elements in a row of a tile, two packs take fewer passes", "not in the documents"},
             {"04_thread_tile_2d", "shared_accesses", 2.5,
              "a load from shared memory brings four elements, of A, too, whose tile is transposed for it",
              "not in the documents"},
             {"04_thread_tile_2d", "global_requests", 2.0, "four elements are loaded or stored at a time",
              "not in the documents"},
             // 1.08 times: 34.8 TFLOP/s; with tiles of half the depth 1.03.
             {"04_thread_tile_2d", "milliseconds", 1.02,
              "shared memory is asked less often, and serves more at a time", "not in the documents"},
         }},
    {.name = "06_warp_tile",
     .before = "05_wide_loads",
     .traits = "[base]",
     .beats =
         {
             // 13 passes in each place along K, with the stores into the tiles, against 9. With lanes in rows
             // of four
             // they are 13 as before, though a warp then needs 96 different elements instead of 144.
             {"05_wide_loads", "shared_passes", 1.2,
              "lanes that are neighbours or two apart want the same pack, of A and of B, and half of a warp "
              "is served "
              "at a time",
              "not in the documents"},
             {"04_thread_tile_2d", "global_requests", 2.0,
              "four elements are loaded or stored at a time, as in step 05", "not in the documents"},
             // 1.02 times: 35.6 TFLOP/s.
             {"05_wide_loads", "milliseconds", 1.01,
              "lanes that are neighbours or two apart want the same pack, of A and of B, and half of a warp "
              "is served "
              "at a time",
              "not in the documents"},
         }},
    {.name = "07_async_copies",
     .before = "06_warp_tile",
     .traits = "[base]",
     .beats =
         {
             // Half as many, and one more for who waits once before the first tile.
             {"06_warp_tile", "barriers", 1.5,
              "copies go into tiles that nobody reads, so that a block waits once for each tile and not "
              "twice",
              "not in the documents"},
             {"05_wide_loads", "shared_passes", 1.2, "a warp's lanes are in squares, as in step 06",
              "not in the documents"},
             // Of A's tile a copy brings one element, so there are 5 for each tile instead of 2.
             {"04_thread_tile_2d", "global_requests", 2.0,
              "four elements of B are copied at a time, and four of C are stored", "not in the documents"},
             // 1.16 times: 41.4 TFLOP/s.
             {"06_warp_tile", "milliseconds", 1.12, "memory answers while the block multiplies",
              "not in the documents"},
         }},
    {.name = "08_large_tiles",
     .before = "07_async_copies",
     .traits = "[base]",
     .beats =
         {
             {"07_async_copies", "bytes_loaded", 1.25,
              "a tile of C of 128 x 256 needs three quarters of the elements for each of its results that "
              "one of "
              "128 x 128 needs",
              "not in the documents"},
             // For each place along K 6 packs for 128 products against 4 for 64.
             {"07_async_copies", "shared_accesses", 1.2,
              "with 8 x 16 results a thread reads less for each of them than with 8 x 8",
              "not in the documents"},
             {"07_async_copies", "shared_passes", 1.2,
              "with 8 x 16 results a thread reads less for each of them than with 8 x 8",
              "not in the documents"},
             // 1.14 times: 47.5 TFLOP/s.
             {"07_async_copies", "milliseconds", 1.05,
              "more products for each pack that is read, and copies begin behind the products of a tile's "
              "first place",
              "not in the documents"},
         }},
    {.name = "09_fragments_ahead",
     .before = "08_large_tiles",
     .traits = "[base]",
     .beats =
         {
             {"07_async_copies", "bytes_loaded", 1.25, "tiles are as large as in step 08",
              "not in the documents"},
             {"07_async_copies", "shared_passes", 1.2, "a thread has 8 x 16 results, as in step 08",
              "not in the documents"},
             // The same packs, only earlier; but those of a place behind the end of K are read, too.
             {"08_large_tiles", "shared_accesses", 1.0, "fragments that are read ahead are the same",
              "not in the documents", kata::Claim::Standing::refuted},
             // 1.11 times: 53.0 TFLOP/s.
             {"08_large_tiles", "milliseconds", 1.05,
              "a thread multiplies while the fragments of the next place come, and copies hold no products "
              "up",
              "CUTLASS, efficient GEMM"},
         }},
    {.name = "10_stream_k",
     .before = "09_fragments_ahead",
     .traits = "[few tiles]",
     .beats =
         {
             // A share of one phase, and 16 shares to add up, against 16 phases.
             {"09_fragments_ahead", "span", 2.0,
              "where tiles are fewer than multiprocessors, many blocks share the phases of a tile",
              "Stream-K"},
             // On chip each element serves as many products as before; that costs what shares leave and are
             // added up.
             {"01_naive", "bytes_loaded", 8.0, "elements are multiplied from tiles in shared memory",
              "SGEMM-1D"},
             // 2.82 times, of 1024 x 1024 matrices, which are 32 tiles.
             {"09_fragments_ahead", "milliseconds", 2.0,
              "where tiles are fewer than multiprocessors, many blocks share the phases of a tile",
              "Stream-K", kata::Claim::Standing::asserted, 1024},
         }},
    {.name = "11_tensor_cores",
     .before = "09_fragments_ahead",
     .traits = "[base]",
     .beats =
         {
             {"09_fragments_ahead", "basic_blocks", 4.0,
              "a warp multiplies 16 x 16 by 16 x 16 elements at a time, and no thread multiplies any",
              "not in the documents"},
             {"09_fragments_ahead", "bytes_loaded", 1.25,
              "an element has two bytes, and tiles of 128 x 128 need four thirds as many of them as those of "
              "128 x "
              "256",
              "not in the documents"},
             // 5.2 times: 249 TFLOP/s; with 64 x 32 results a warp 3.9.
             {"09_fragments_ahead", "milliseconds", 3.0,
              "tensor cores multiply, at the precision of bfloat16", "not in the documents"},
         }},
    {.name = "12_copy_engine",
     .before = "11_tensor_cores",
     .traits = "[base]",
     .beats =
         {
             // 1.69 times: 393 TFLOP/s.
             {"11_tensor_cores", "milliseconds", 1.3,
              "a warpgroup multiplies tiles where they lie, and no thread copies or loads an element",
              "not in the documents"},
         }},
    {.name = "13_stages",
     .before = "12_copy_engine",
     .traits = "[base]",
     .beats =
         {
             // 1.53 times: 650 TFLOP/s.
             {"12_copy_engine", "milliseconds", 1.25,
              "three pairs of tiles are on their way, and an element that is fetched serves more products",
              "not in the documents"},
         }},
    {.name = "14_producer",
     .before = "13_stages",
     .traits = "[base]",
     .beats =
         {
             // 1.11 times: 724 TFLOP/s.
             {"13_stages", "milliseconds", 1.05,
              "a warpgroup fetches while two multiply, and tiles of C share what the L2 cache has",
              "not in the documents"},
         }},
    {.name = "15_clusters",
     .before = "14_producer",
     .traits = "[base]",
     .beats =
         {
             // 1.33 times on an H200, of 5000 x 5000 matrices, whose rows do not begin at whole lines.
             {"14_producer", "milliseconds", 1.1,
              "two blocks fetch a tile of B once, and what makes no whole wave is shared along K",
              "not in the documents", kata::Claim::Standing::asserted, 5000},
         }},
};

}  // namespace

// What no claim about another step shows, and on the problem that is counted, where step 02 has one phase, no
// comparison with the solution.

namespace {

/// Steps of the longest chain with so many tiles, beside that of 09, which has a block for each of them.
double chain_beside_09(int tiles, int phases, int multiprocessors) {
    constexpr int bk = 16;
    const kata::Conditions conditions{.multiprocessors = multiprocessors};
    const auto problem = [&](int of_tiles) { return coded({128, of_tiles * 256, phases * bk}); };
    const auto& theirs = kata::counted_of("09_fragments_ahead", problem(1), conditions);
    return static_cast<double>(kata::counted(problem(tiles), conditions).span) /
           static_cast<double>(theirs.span);
}

}  // namespace

TEST_CASE("tiles that are left over are shared, also where they are a third of a wave",
          "[claims][step][10_stream_k]") {
    kata::only_where_counted();
    // Two tiles of six phases, of which six multiprocessors could have two each.
    kata::require_at_most(
        0.75, chain_beside_09(2, 6, 6),
        "the step does not gain what it is for: tiles that are left "
        "over are computed by a block each, while other multiprocessors have nothing to do",
        "steps of the longest chain with two tiles and six multiprocessors, beside those of "
        "09_fragments_ahead");
}

// With 16 multiprocessors, of which kata::machine counts the busiest. No other test of this step takes as
// long. It stands early, so that others run beside it where they run in parts (suite/parts.hpp).
TEST_CASE("tiles that are left over are shared, also behind whole waves", "[claims][step][10_stream_k]") {
    kata::only_where_counted();
    constexpr int at_once = kata::machine::multiprocessors;
    const auto c = counts_of(
        try_on(kata::step(), coded({128, (at_once + 1) * 256, 192}), {{.multiprocessors = at_once}}));
    const double evenly = static_cast<double>(c.work) / (at_once * kata::machine::issued_together);
    // 1.0 where the tile that is left over is shared, 1.1 where the last block to be done adds it up, and 1.2
    // where all tiles are cut into as many shares, so that they fill waves better. 1.9 where it is a whole
    // tile of one block, and 1.4 with tiles of 128 x 128.
    kata::require_at_most(
        1.3, static_cast<double>(c.busiest) / evenly,
        "the step does not gain what it is for: tiles that are left over behind "
        "whole waves are computed by a block each, while most multiprocessors have nothing to do. Share "
        "them out, too, and not only where all tiles are fewer than multiprocessors",
        "times the work that each of 16 multiprocessors would have if 17 tiles were shared evenly: the "
        "busiest one's");
}

namespace {

/// How many blocks step 10 launches for a problem, of which next to nothing is run.
double blocks_on(int multiprocessors, const Shape& shape) {
    Corners<float> p(shape);
    const auto run = kata::observed_run(
        {.multiprocessors = multiprocessors, .sample = 1}, [&] { p.run(kata::step()); },
        []() -> std::optional<std::string> { return std::nullopt; });
    if (run.fault) FAIL(*run.fault);
    return static_cast<double>(kata::counts_of(run).blocks);
}

}  // namespace

TEST_CASE("more multiprocessors get more blocks", "[claims][step][10_stream_k]") {
    kata::only_where_counted();
    const Shape one_tile{128, 256, 33 * 16};
    // One tile of 33 phases: six shares and 33, and as many blocks that add up.
    kata::require_at_least(
        13, blocks_on(33, one_tile) - blocks_on(6, one_tile),
        "the step does not gain what it is for: a tile is cut into as many shares "
        "on a small GPU as on a large one. Ask cudaDeviceGetAttribute() how many multiprocessors there are, "
        "and give each of them a share",
        "blocks for 128 x 256 results with K = 528: how many more on 33 multiprocessors than on six");
}

TEST_CASE("tiles that are left over are shared, also where they are two thirds of a wave",
          "[claims][step][10_stream_k]") {
    kata::only_where_counted();
    // Eight tiles of twelve phases, of which twelve multiprocessors could have eight each. Blocks that only
    // add up count, too: who has any has shares.
    kata::require_at_least(
        11, blocks_on(12, {128, 8 * 256, 12 * 16}),
        "the step does not gain what it is for: tiles that are left over are "
        "computed by a block each, while a third of the multiprocessors has nothing to do. Share them out, "
        "unless they are nearly a whole wave",
        "blocks for eight tiles of 128 x 256 results with K = 192, on twelve multiprocessors");
}

TEST_CASE("no share is much longer than the others", "[claims][step][10_stream_k]") {
    kata::only_where_counted();
    // One tile of nine phases, of which five multiprocessors could have two each. Shares of one leave five to
    // the last.
    kata::require_at_most(
        0.42, chain_beside_09(1, 9, 5),
        "the step does not gain what it is for: one of the shares is much longer "
        "than the others, which wait for it. Where the phases cannot be shared out evenly, round up how "
        "many a share has, and let the last one have fewer",
        "steps of the longest chain with a tile of nine phases and five multiprocessors, beside those of "
        "09_fragments_ahead");
}

TEST_CASE("a tile brings several places along K on chip",
          "[claims][step][02_shared_memory][03_thread_tile_1d][04_thread_tile_2d]"
          "[05_wide_loads][06_warp_tile][07_async_copies][08_large_tiles][09_fragments_ahead][10_stream_k]["
          "11_tensor_cores]") {
    const Shape s{128, 128, 96};
    const auto c = kata::counted(coded(s));
    // Half of the depth of steps 03 to 07, with two barriers for each tile.
    const double most = 2.0 * s.k / 4;
    kata::require_at_most(most, static_cast<double>(c.barriers) / static_cast<double>(c.blocks),
                          "the step does not gain what it is for: its blocks wait "
                          "too often. The barriers belong before and behind the loop over a tile, and a "
                          "tile has several places along K",
                          "barriers in a block, for K = 96");
}

TEST_CASE("both tiles are loaded in packs", "[claims][step][05_wide_loads][06_warp_tile]") {
    // Deep enough that loads are not lost among the stores to C.
    const auto loaded = kata::counted(coded({128, 128, 96})).global_load;
    // Four in the solution, 1.6 where one of the tiles is loaded an element at a time, two in packs of two.
    kata::require_at_least(3,
                           static_cast<double>(loaded.bytes) / (4.0 * static_cast<double>(loaded.accesses)),
                           "the step does not gain what it is for: its loads from "
                           "global memory bring too few elements. Those of A as well as those of B are "
                           "loaded four at a time where the rows allow it",
                           "elements per load of a thread");
}

TEST_CASE("the tiles of B are copied in packs",
          "[claims][step][07_async_copies][08_large_tiles][09_fragments_ahead][10_stream_k]") {
    const auto loaded = kata::counted(coded({128, 128, 96}), {.multiprocessors = 1}).global_load;
    // 1.6 in step 07, where elements of A are four of five copies, and two in the others; 1.3 with tiles of
    // 256 rows and 128 columns.
    kata::require_at_least(
        1.2, static_cast<double>(loaded.bytes) / (4.0 * static_cast<double>(loaded.accesses)),
        "the step does not gain what it is for: its copies from global memory "
        "bring too few elements. Those of A go down a column of its tile, one at a time, but those of B are "
        "neighbours there, too: copy four at a time where the rows allow it",
        "elements per copy or load of a thread");
}

// Rows of A are k long, those of B and C n.
TEST_CASE("B and C go in packs whatever k is",
          "[claims][step][07_async_copies][08_large_tiles][09_fragments_ahead][10_stream_k]") {
    const auto c = kata::counted(coded({128, 128, 97}), {.multiprocessors = 1});
    const auto require = [](double least, const kata::Traffic& now, const char* counted) {
        kata::require_at_least(
            least, static_cast<double>(now.bytes) / (4.0 * static_cast<double>(now.accesses)),
            "the step does not gain what it is for: whether rows of B and C begin "
            "at multiples of 16 bytes depends on n alone, which is how long they are. Where k is no "
            "multiple of four and n is one, they go in packs, too",
            counted);
    };
    // As for k = 96.
    require(1.2, c.global_load, "elements per copy or load of a thread, for n = 128 and k = 97");
    require(2.5, c.global_store, "elements per store of a thread, for n = 128 and k = 97");
}

// No test fails for it: a kernel for packs, and one without for all else, is right.
TEST_CASE("who asks one question for all matrices is told", "[claims][step][05_wide_loads][06_warp_tile]") {
    if (kata::counted(coded({128, 128, 33})).global_store.accesses > 128 * 128 / 2)
        SUCCEED(
            "note: With n = 128 and k = 33 no packs of C are stored, though its rows begin at multiples of "
            "16 bytes, and so do those of B. Only A's do not: ask the question of each matrix, of how long "
            "its rows are.");
    SUCCEED();
}

// On a GPU the time shows it. Of twelve tiles the first may be waited for.
TEST_CASE(
    "a block multiplies while the next tiles are on their way",
    "[claims][step][07_async_copies][08_large_tiles][09_fragments_ahead][10_stream_k][11_tensor_cores]") {
    // Also where no tile is whole, and rows begin anywhere. Tiles of bfloat16 may be twice as deep.
    auto shape = GENERATE(Shape{128, 128, 192}, Shape{70, 75, 187});
    if (factors_of(kata::step()) == Factors::bf16) shape.k *= 2;
    const auto p = coded(shape);
    CAPTURE(p.text());
    const auto c = kata::counted(p, {.multiprocessors = 1});
    // NVIDIA's sample for tensor cores has no copies. It loads and stores at once, and leaves it to other
    // blocks to multiply meanwhile.
    if (kata::step_name() == "11_tensor_cores" && c.copy_waits == 0) {
        SUCCEED("nothing is copied asynchronously");
        return;
    }
    kata::require_at_most(30,
                          100 * static_cast<double>(c.waited_for) / static_cast<double>(c.global_load.bytes),
                          "the step does not gain what it is for: nothing is "
                          "multiplied while the next tiles are on their way. Begin to copy both, A's and "
                          "B's, with __pipeline_memcpy_async(), multiply the tiles that are there, and only "
                          "then wait; or load both into registers before this tile is multiplied, and store "
                          "them to shared memory behind that",
                          "% of the bytes loaded or copied are waited for at once, with nothing read from "
                          "shared memory meanwhile, for " +
                              p.text());
}

TEST_CASE("matrices whose rows begin anywhere are multiplied by way of tiles, too",
          "[claims][step][05_wide_loads][06_warp_tile][07_async_copies][08_large_tiles]") {
    const Shape s{127, 127, 33};
    const auto loaded = kata::counted(coded(s)).global_load.bytes;
    // One with tiles of 128 x 128, four with tiles of 32 x 32, and 127 without tiles.
    kata::require_at_most(
        4, static_cast<double>(loaded) / (4.0 * static_cast<double>(s.elements_of_a() + s.elements_of_b())),
        "the step does not gain what it is for: where the rows of "
        "a matrix do not begin at multiples of 16 bytes, only its loads and stores should be "
        "others, and the tiles in shared memory the same",
        "times that an element of A or B is loaded, for n = 127 and k = 33");
}

// Of the depth of a tile K leaves 31, 15 or 7 places over.
TEST_CASE("what K leaves over is multiplied from tiles, too",
          "[claims][step][02_shared_memory][03_thread_tile_1d][04_thread_tile_2d][05_wide_loads]"
          "[06_warp_tile][07_async_copies][08_large_tiles]") {
    const auto loaded = [](int k) {
        return static_cast<double>(kata::counted(coded({64, 64, k})).global_load.bytes) / k;
    };
    // Places that are loaded for each product anew: 32 in step 02, and 2.6 for squares of 8 x 8 results.
    kata::require_at_most(
        1.5, loaded(31) / loaded(32),
        "the step does not gain what it is for: where K is no multiple of a tile's "
        "depth, what is left over of it goes past the tiles in shared memory. The last tiles have zeros "
        "behind the end of K",
        "bytes loaded for each place along K, for 64 x 64 results with K = 31 beside K = 32");
}

namespace {

/// Bytes of A and B that are loaded or copied. What a step loads of C is another matter.
double loaded_of_factors(const Shape& shape) {
    double bytes = 0;
    const kata::Accesses accesses([&](const kata::Request& r, const std::string& array) {
        if (array == "A" || array == "B") bytes += r.bytes * std::popcount(r.lanes);
    });
    (void)kata::counted(coded(shape), {.multiprocessors = 1});
    return bytes;
}

}  // namespace

TEST_CASE("no tile is loaded from behind the end of K",
          "[claims][step][02_shared_memory][03_thread_tile_1d][04_thread_tile_2d][05_wide_loads]"
          "[06_warp_tile][07_async_copies][08_large_tiles][09_fragments_ahead][11_tensor_cores]") {
    const auto loaded = [](int k) { return loaded_of_factors({128, 128, k}) / k; };
    kata::require_at_most(
        1.5, loaded(16) / loaded(128),
        "the step does not gain what it is for: tiles are loaded that nobody "
        "multiplies. Those that begin behind the end of K need no loads and no copies",
        "bytes of A and B loaded for each place along K, for 128 x 128 results with K = 16 beside K = 128");
}

TEST_CASE("results at the ends of C are multiplied from tiles, too",
          "[claims][step][02_shared_memory][03_thread_tile_1d][04_thread_tile_2d][05_wide_loads]"
          "[06_warp_tile][07_async_copies][08_large_tiles][09_fragments_ahead][10_stream_k]["
          "11_tensor_cores]") {
    const auto loaded = [](int side) { return loaded_of_factors({side, side, 32}); };
    kata::require_at_most(
        1.5, loaded(200) / loaded(256),
        "the step does not gain what it is for: blocks that reach over the end of "
        "C load far more than the others. Only their loads and stores should ask for the end, and the tiles "
        "be the same",
        "bytes of A and B loaded for 200 x 200 results, beside 256 x 256");
}

// 8 passes for 4 packs in each place along K.
TEST_CASE("every warp reads its packs in two passes", "[claims][step][06_warp_tile]") {
    const auto c = kata::counted(coded({128, 128, 96}));
    // Three in step 05, where packs of B take four, and 2.5 where half of the warps do as there.
    kata::require_at_most(
        2.25, static_cast<double>(c.shared_load.transactions) / static_cast<double>(c.shared_load.requests),
        "the step does not gain what it is for: the lanes of each warp must lie in "
        "squares, so that neighbours or lanes two apart want the same pack, of A and of B, in every warp",
        "passes over the banks for a load from shared memory");
}

// Of few rows nearly all that is loaded is B, and of few columns A.
TEST_CASE("the tiles are loaded along their rows",
          "[claims][step][02_shared_memory][03_thread_tile_1d][04_thread_tile_2d]"
          "[05_wide_loads][06_warp_tile][07_async_copies][08_large_tiles][09_fragments_ahead][10_stream_k]["
          "11_tensor_cores]") {
    kata::only_where_counted();
    struct Case {
        const char* matrix;
        Shape shape;
        double least;
    };
    // All of B in every step, and of A half where its tile is four elements wide. Half of B where a warp
    // loads four elements of each of eight rows, and a quarter of A where it loads two of each of 16.
    for (const auto& [matrix, shape, least] : {Case{"B", {8, 256, 32}, 0.8}, Case{"A", {128, 8, 32}, 0.4}}) {
        const auto run = try_on(kata::step(), coded(shape), {{.multiprocessors = 1}});
        const auto& loaded = counts_of(run).global_load;
        const double efficiency = kata::Counts::efficiency(loaded);
        // One element for many lanes is reuse that is missing, and told by the claims.
        if (efficiency < least && loaded.transactions > 2 * loaded.requests)
            kata::fall_short(
                {std::string("its accesses to ") + matrix +
                     " are not coalesced: neighbouring threads must load neighbouring elements of a row\n  " +
                     "of each 32-byte sector that is loaded, now " +
                     std::to_string(std::lround(100 * efficiency)) + " % are asked for, and at least " +
                     std::to_string(std::lround(100 * least)) + " %" +
                     kata::where_most(run, *kata::Quantity("sectors_loaded")),
                 efficiency / least});
    }
    SUCCEED();
}

// A warp of h x w results needs h + w elements for each place along K, least where h is w. With strips of
// 32 x 64 or 32 x 128 it is 1.06 and 1.25 times that, and 1.5 times where 64 x 64 are two halves, one after
// the other.
TEST_CASE("a warp loads a fragment once for all its results", "[claims][step][11_tensor_cores]") {
    const Shape s{128, 256, 64};
    const auto c = kata::counted(coded(s));
    const double outputs = static_cast<double>(s.elements_of_c()),
                 warps = static_cast<double>(c.threads) / 32;
    const double elements = 2 * std::sqrt(outputs / warps) * s.k * warps;
    kata::require_at_most(
        1.4, static_cast<double>(c.shared_load.bytes) / (sizeof(matrices::Bf16) * elements),
        "the step does not gain what it is for: its warps load too many fragments "
        "for what they multiply. Load each of A and each of B once for all results of the warp, and let "
        "these be about as high as wide",
        "times the elements that a warp loads from shared memory, of those that a square of as many results "
        "needs");
}

TEST_CASE("the sum of a result stays in a register",
          "[claims][step][02_shared_memory][03_thread_tile_1d][04_thread_tile_2d]"
          "[05_wide_loads][06_warp_tile][07_async_copies][08_large_tiles][11_tensor_cores]") {
    const Shape s{64, 64, 96};
    // Twice, where another kernel sets C to zero first.
    kata::require_at_most(2,
                          static_cast<double>(kata::counted(coded(s)).global_store.bytes) /
                              (4.0 * static_cast<double>(s.elements_of_c())),
                          "the step does not gain what it is for: C is written in "
                          "every phase. Keep the sum in a local variable, and store it when all phases "
                          "are done",
                          "stores for each result, for K = 96");
}

// Products of 24 bits, which float holds, of very different size. Sums in double are rounded once, and so
// every one of them is the float next to the exact value. Of sums that are rounded in each of 45 steps only
// some are.
TEST_CASE("sums are kept in float", "[claims]") {
    constexpr int k = 45;
    auto p = real({41, 53, k}, 7);
    for (auto& value : p.a) value = std::round(2048 * value) / 2048;
    for (auto& value : p.b) value = std::round(2048 * value) / 2048;
    for (std::size_t i = 0; i < p.a.size(); ++i) p.a[i] = std::ldexp(p.a[i], static_cast<int>(i % k % 12));
    Problem::Device device(p, kata::poison);
    const auto run = try_on(kata::step(), p, device, kata::unmetered);
    if (run.fault) FAIL(*run.fault);
    const auto exact = matrices::reference(p.a, p.b, p.shape);
    const auto got = device.result();
    if (std::equal(got.begin(), got.end(), exact.begin(),
                   [](float sum, double value) { return sum == static_cast<float>(value); }))
        kata::fall_short(
            {"its sums are in double: a GPU has half as many units for "
             "double as for float, and most have a 32nd or a 64th; float is as exact as it must be",
             0.5});
    SUCCEED();
}

// What a wrong result says of tiles.

TEST_CASE("rows and columns that are exchanged in tiles are told from other mistakes",
          "[figures][02_shared_memory]") {
    const Shape s{70, 75, 37};
    const auto p = coded(s);
    const auto multiplied = [&](int side, bool of_a, bool of_b) {
        const Squares first(p.a, s.m, s.k, side, of_a), second(p.b, s.k, s.n, side, of_b);
        const auto all =
            matrices::reference(first.elements, second.elements, {first.rows, second.columns, first.columns});
        std::vector<float> c;
        for (int row = 0; row < s.m; ++row)
            for (int column = 0; column < s.n; ++column)
                c.push_back(static_cast<float>(all[static_cast<std::size_t>(row * second.columns + column)]));
        return c;
    };
    const auto said = [&](const std::vector<float>& c) {
        return exchanged_in_tiles(p.a, p.b, s, c).value_or("");
    };
    CHECK(said(multiplied(32, true, false)).find("32 x 32 of A:") != std::string::npos);
    CHECK(said(multiplied(16, false, true)).find("16 x 16 of B:") != std::string::npos);
    CHECK(said(multiplied(8, true, true)).find("8 x 8 of A and B:") != std::string::npos);
    CHECK(said(multiplied(24, true, false)).empty());  // of no tile that anybody has
    CHECK(said(multiplied(32, false, false)).empty());
    auto another = multiplied(32, true, false);
    another[1234] += 1;  // which that does not explain
    CHECK(said(another).empty());
    CHECK(said(std::vector<float>(another.size())).empty());
}

// The figures of the documents, to the digit: loads by single threads, for each result. K is the number of
// products in a result.

namespace {

kata::Counts figures(const Shape& s) { return kata::counted(coded(s)); }

double intensity(const Shape& s, const kata::Counts& c) {
    return matrices::operations(s) / static_cast<double>(c.global_load.bytes);
}

double per_result(const kata::Traffic& t, const Shape& s) {
    return static_cast<double>(t.accesses) / static_cast<double>(s.elements_of_c());
}

}  // namespace

TEST_CASE("01 naive: 2K global loads a result", "[figures][01_naive]") {
    const Shape s{64, 32, 40};
    const auto c = figures(s);
    CHECK(per_result(c.global_load, s) == 2 * 40);
    CHECK(per_result(c.global_store, s) == 1);
    CHECK(intensity(s, c) == 0.25);  // OP/B
    // A warp and one step along K: 1 sector of A for all, 4 of B.
    CHECK(c.global_load.transactions == 5 * 40 * 64 * 32 / 32);
}

TEST_CASE("01 naive: the 4 x 4 matrices of PMPP-grids 3.4", "[figures][01_naive]") {
    // P(0,0) from M[0], M[1], M[2], M[3] and N[0], N[4], N[8], N[12]: the digits of 4321.
    Problem p{{4, 4, 4}, std::vector<float>(16), std::vector<float>(16)};
    float digit = 1;
    for (std::size_t i = 0; i < 4; ++i, digit *= 10) {
        p.a[i] = digit;
        p.b[4 * i] = static_cast<float>(i + 1);
    }
    CHECK(matrices::reference(p.a, p.b, p.shape)[0] == 4321);
    require_right(p);
    // Tiles of 2 x 2: block (1, 0), of row 1, begins at P(2,0), which is element 8. Four tiles cover 4 x 4.
    CHECK((1 * 2) * 4 + 0 == 8);
    CHECK((4 / 2) * (4 / 2) == 4);
}

TEST_CASE("02 shared memory: K/16 global and 2K shared loads a result", "[figures][02_shared_memory]") {
    const Shape s{64, 64, 64};
    const auto c = figures(s);
    CHECK(per_result(c.global_load, s) == 64 / 16.0);
    CHECK(per_result(c.shared_load, s) == 2 * 64);
    CHECK(intensity(s, c) == 8);  // OP/B
    // K/32 tiles with two loads a thread, and in each 32 times two loads: a thread has one result.
    CHECK(c.threads == s.elements_of_c());
}

TEST_CASE("03 thread tile 1-D: K/32 global and 9K/8 shared loads a result", "[figures][03_thread_tile_1d]") {
    const Shape s{128, 64, 64};
    const auto c = figures(s);
    CHECK(per_result(c.global_load, s) == 64 / 32.0);
    CHECK(per_result(c.shared_load, s) == 9 * 64 / 8.0);
    CHECK(intensity(s, c) == 16);  // OP/B
    CHECK(c.threads == s.elements_of_c() / 8);
}

TEST_CASE("03 thread tile 1-D: tiles of 1024 floats, 4 KB, which 512 threads load with two loads each",
          "[figures][03_thread_tile_1d]") {
    const auto one_tile = figures({64, 64, 8});
    CHECK(one_tile.threads == 512);
    CHECK(one_tile.global_load.accesses == 2 * 512);
    CHECK(one_tile.shared_store.accesses == 1024);
    CHECK(one_tile.shared_store.bytes == 4096);
    // 72 loads from shared memory a thread and tile; with the loops exchanged they would be 128.
    CHECK(one_tile.shared_load.accesses == 72 * 512);
    CHECK(8 * (1 + 8) == 72);
    CHECK(8 * 8 * 2 == 128);
}

TEST_CASE("04 thread tile 2-D: K/64 global and K/4 shared loads a result", "[figures][04_thread_tile_2d]") {
    const Shape s{128, 256, 32};
    const auto c = figures(s);
    CHECK(per_result(c.global_load, s) == 32 / 64.0);
    CHECK(per_result(c.shared_load, s) == 32 / 4.0);
    CHECK(intensity(s, c) == 32);  // OP/B
    // A warp and one step along K; of neighbouring results it would be 8 · 4 + 8 · 2 = 48.
    CHECK(c.shared_load.transactions == 16 * 32 * c.threads / 32);
    CHECK(c.threads == s.elements_of_c() / 64);
}

TEST_CASE("05 wide loads: 4 loads from shared memory and 12 passes for each place along K",
          "[figures][05_wide_loads]") {
    const Shape s{128, 256, 32};
    const auto c = figures(s);
    const auto warps = c.threads / 32;
    // Per tile and thread a pack of A and one of B; and 16 packs of results.
    CHECK(c.global_load.requests == 2 * (32 / 8) * warps);
    CHECK(c.global_store.requests == 16 * warps);
    CHECK(per_result(c.global_load, s) == 32 / 256.0);
    CHECK(c.global_load.bytes == 4 * s.elements_of_c() * 32 / 64);
    CHECK(per_result(c.shared_load, s) == 32 / 16.0);
    CHECK(intensity(s, c) == 32);  // OP/B
    // Two of A at 2 passes, as neighbouring lanes want the same pack, and two of B at 4. Into the tiles go
    // four elements of A at 1 and a pack of B at 4, which is 1 for each of 8 places.
    CHECK(c.shared_load.transactions == (2 * 2 + 2 * 4) * 32 * warps);
    CHECK(c.shared_store.transactions == (4 * 1 + 4) * (32 / 8) * warps);
    CHECK(c.shared_load.distinct == 4 * (16 + 128) * 32 * warps);
    CHECK(c.threads == s.elements_of_c() / 64);
}

TEST_CASE("06 warp tile: 4 loads from shared memory and 8 passes for each place along K",
          "[figures][06_warp_tile]") {
    const Shape s{128, 256, 32};
    const auto c = figures(s);
    const auto warps = c.threads / 32;
    CHECK(c.global_load.requests == 2 * (32 / 8) * warps);
    CHECK(c.global_store.requests == 16 * warps);
    CHECK(per_result(c.shared_load, s) == 32 / 16.0);
    CHECK(c.shared_load.transactions == (2 * 2 + 2 * 2) * 32 * warps);
    CHECK(c.shared_store.transactions == (4 * 1 + 4) * (32 / 8) * warps);
    // Different elements that a warp needs in each place along K, of 4 bytes: 144 of a tile of 16 x 128.
    CHECK(c.shared_load.distinct == 4 * (64 + 32) * 32 * warps);
    CHECK(c.threads == s.elements_of_c() / 64);
}

TEST_CASE("07 async copies: 8 passes for each place along K, and a barrier for each tile",
          "[figures][07_async_copies]") {
    const Shape s{128, 256, 32};
    const auto c = figures(s);
    const auto warps = c.threads / 32;
    // Per tile and thread four elements of A and a pack of B, which fill as many places of shared memory.
    CHECK(c.global_load.requests == 5 * (32 / 8) * warps);
    CHECK(c.shared_store.requests == 5 * (32 / 8) * warps);
    CHECK(c.global_load.bytes == 4 * s.elements_of_c() * 32 / 64);
    CHECK(c.global_load.transactions == c.global_load.bytes / 32);
    CHECK(c.global_store.requests == 16 * warps);
    CHECK(per_result(c.shared_load, s) == 32 / 16.0);
    CHECK(c.shared_load.transactions == (2 * 2 + 2 * 2) * 32 * warps);
    CHECK(c.shared_store.transactions == (4 * 1 + 4) * (32 / 8) * warps);
    CHECK(c.barriers == c.blocks * (32 / 8));
}

TEST_CASE("08 large tiles: 6 loads from shared memory and 12 passes for 128 products",
          "[figures][08_large_tiles]") {
    const Shape s{128, 256, 32};
    const auto c = figures(s);
    const auto warps = c.threads / 32;
    CHECK(c.threads == s.elements_of_c() / 128);
    // Per tile and thread eight elements of A and four packs of B; and 32 packs of results.
    CHECK(c.global_load.requests == (8 + 4) * (32 / 16) * warps);
    CHECK(c.shared_store.requests == (8 + 4) * (32 / 16) * warps);
    CHECK(c.global_load.bytes == 4 * s.elements_of_c() * 32 * 3 / 256);
    CHECK(c.global_load.transactions == c.global_load.bytes / 32);
    CHECK(c.global_store.requests == 32 * warps);
    // Two packs of A and four of B at 2 passes each.
    CHECK(c.shared_load.requests == 6 * 32 * warps);
    CHECK(c.shared_load.transactions == (2 * 2 + 4 * 2) * 32 * warps);
    // A copy of A puts 16 elements of two rows into 16 rows of the tile, 132 elements apart: two to a bank.
    CHECK(c.shared_store.transactions == (8 * 2 + 4 * 4) * (32 / 16) * warps);
    CHECK(c.bank_conflicts == 8 * (32 / 16) * warps);
    CHECK(c.barriers == c.blocks * (32 / 16));
}

TEST_CASE("09 fragments ahead: a place along K and a barrier more than in step 08",
          "[figures][09_fragments_ahead]") {
    const Shape s{128, 256, 32};
    const auto c = figures(s);
    const auto warps = c.threads / 32;
    CHECK(c.threads == s.elements_of_c() / 128);
    CHECK(c.global_load.requests == (8 + 4) * (32 / 16) * warps);
    CHECK(c.global_load.bytes == 4 * s.elements_of_c() * 32 * 3 / 256);
    // Also of a place behind the end of K, which is read ahead.
    CHECK(c.shared_load.requests == 6 * (32 + 1) * warps);
    CHECK(c.shared_load.transactions == (2 * 2 + 4 * 2) * (32 + 1) * warps);
    CHECK(c.shared_store.transactions == (8 * 2 + 4 * 4) * (32 / 16) * warps);
    // One for each tile, and one before the first is read.
    CHECK(c.barriers == c.blocks * (32 / 16 + 1));
}

TEST_CASE("10 stream-K: sixteen blocks share the phases of a tile, and what 15 leave is added up",
          "[figures][10_stream_k]") {
    const auto& s = few_tiles;
    const auto c = figures(s);
    constexpr std::uint64_t tiles = 4, phases = 16;
    const auto bytes_of_c = 4 * s.elements_of_c();
    // A block for each share, and 32 of 256 packs for each tile.
    CHECK(c.launches == 2);
    CHECK(c.blocks == tiles * phases + tiles * 32);
    CHECK(c.threads == c.blocks * 256);
    CHECK(c.global_load.bytes == bytes_of_c * s.k * 3 / 256 + phases * bytes_of_c);
    CHECK(c.global_store.bytes == (phases + 1) * bytes_of_c);
    // One for each phase, one before the first, and one behind each share.
    CHECK(c.barriers == tiles * phases * 3);
    CHECK(c.global_atomic.accesses == 0);
}

TEST_CASE("11 tensor cores: 8 fragments for 16 products of fragments, and half the bytes",
          "[figures][11_tensor_cores]") {
    const Shape s{128, 256, 64};
    const auto c = figures(s);
    const auto warps = c.threads / 32, blocks = c.blocks;
    CHECK(blocks == 2);
    CHECK(warps == 4 * blocks);
    // A tile of A and one of B, 128 x 32 elements each, are 512 packs of 16 bytes: four a thread.
    CHECK(c.global_load.requests == (4 + 4) * (64 / 32) * warps);
    CHECK(c.global_load.bytes == 2 * 2 * 128 * 64 * blocks);
    // For 16 places along K four fragments of A and four of B, each four pairs of elements a lane; a pass for
    // each, for the padding spreads eight rows over all banks.
    CHECK(c.shared_load.requests == 4 * (4 + 4) * (64 / 16) * warps);
    CHECK(c.shared_load.transactions == c.shared_load.requests);
    // 16 fragments of sums, stored in pairs, two rows of eight at a time: 4 stores each.
    CHECK(c.global_store.requests == 16 * 4 * warps);
    CHECK(c.barriers == blocks * (64 / 32));
}

TEST_CASE("tiles without bank conflicts",
          "[figures][02_shared_memory][03_thread_tile_1d][04_thread_tile_2d]"
          "[05_wide_loads][06_warp_tile][07_async_copies]") {
    const auto c = figures({128, 128, 32});
    CHECK(c.bank_conflicts == 0);
}

TEST_CASE("two barriers for each tile",
          "[figures][02_shared_memory][03_thread_tile_1d][04_thread_tile_2d]"
          "[05_wide_loads][06_warp_tile]") {
    const auto c = figures({128, 128, 32});
    for (const auto& [step, depth] : depths)
        if (step == kata::step_name()) CHECK(c.barriers == c.blocks * 2 * (32 / depth));
}

TEST_CASE("sizes outside the limits are refused in one line", "[limits]") {
    const auto shape =
        GENERATE(Shape{-1, 4, 4}, Shape{4, -1, 4}, Shape{4, 4, -1}, Shape{65536, 32768, 1},
                 Shape{65536, 1, 32768}, Shape{1, 65536, 32768}, Shape{matrices::max_rows + 1, 1, 1});
    CAPTURE(shape.m, shape.n, shape.k);
    CHECK_THROWS_AS(matrices::check(shape), std::invalid_argument);
}

TEST_CASE("in bfloat16, rows of A and B that do not begin at multiples of 16 bytes are refused, too",
          "[limits]") {
    const auto shape = GENERATE(Shape{8, 8, 4}, Shape{8, 12, 8}, Shape{8, -8, 8});
    CAPTURE(shape.m, shape.n, shape.k);
    CHECK_THROWS_AS(matrices::check_bf16(shape), std::invalid_argument);
    CHECK_NOTHROW(matrices::check_bf16({3, 8, 16}));
}

TEST_CASE("a float becomes the nearest bfloat16, and of two the even one", "[limits]") {
    const auto rounded = [](float value) { return matrices::to_float(matrices::to_bf16(value)); };
    constexpr float inf = std::numeric_limits<float>::infinity();
    for (const float value : {0.0f, 1.0f, -1.5f, 255.0f, 0x1p-126f, inf, -inf})
        CHECK(rounded(value) == value);
    CHECK(rounded(257) == 256);
    CHECK(rounded(259) == 260);
    CHECK(rounded(257.1f) == 258);
    CHECK(rounded(-0x1.fffffep127f) == -inf);
    CHECK(std::isnan(rounded(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("sizes at the limits are taken", "[limits]") {
    CHECK_NOTHROW(matrices::check({0, 0, 0}));
    CHECK_NOTHROW(matrices::check({matrices::max_rows, 1, 1}));
    CHECK_NOTHROW(matrices::check({1, std::numeric_limits<int>::max(), 1}));
}

namespace {

double bytes_of(const Shape& s) {
    return 4.0 * static_cast<double>(s.elements_of_a() + s.elements_of_b() + s.elements_of_c());
}

}  // namespace

static const kata::Chapter chapter{
    .name = "gemm",
    .problem = "matrices of 128 x 128",
    .timed_problem = "matrices of 4096 x 4096",
    .steps = steps,
    .ladder =
        [](const Module& step) {
            return try_on(step, real({128, 128, 128}, 1, factors_of(step)));
        },
    .shapes = {{"base",
                [](const Module& step) { return try_on(step, coded(counted_shape, 1, factors_of(step))); },
                "[base]"},
               {"few tiles",
                [](const Module& step) { return try_on(step, coded(few_tiles, 1, factors_of(step))); },
                "[few tiles]"}},
    .sketch = [](const Module& step) -> kata::Sketch {
        constexpr int m = 64, n = 128, k = 32;
        return {try_on(step, coded({m, n, k}, 1, factors_of(step))),
                "a product of 64 x 32 and 32 x 128 elements",
                "reuse",
                {{"A", {m, k}}, {"B", {k, n}}, {"C", {m, n}}}};
    },
    .timed =
        [](std::optional<int> variant) {
            const int side = variant.value_or(0) > 0 ? *variant : 4096;
            const Shape s{side, side, side};
            return std::make_unique<kata::TimedOn<Problem>>(real(s, 1, Factors::either), bytes_of(s));
        },
    .at_scale =
        [](const Module& step, std::optional<int>) {
            constexpr Shape s{4096, 4096, 256};  // of a sixteenth of the depth
            Buffer<float> c("C", s.elements_of_c(), kata::zeros);
            const auto run = [&]<class T>(std::type_identity<T>, const char* entry) {
                Buffer<T> a("A", s.elements_of_a(), kata::zeros), b("B", s.elements_of_b(), kata::zeros);
                step.function<void(const T*, const T*, float*, int, int, int)>(entry)(
                    a.data(), b.data(), c.data(), s.m, s.n, s.k);
            };
            if (factors_of(step) == Factors::bf16)
                run(std::type_identity<matrices::Bf16>{}, "gemm_bf16");
            else
                run(std::type_identity<float>{}, "gemm");
            return kata::AtScale{matrices::operations(s), 16};
        },
    .columns = {"bytes_loaded", "sectors", "load_efficiency", "shared_loads", "shared_passes", "barriers",
                "intensity"},
};
const kata::Chapter& kata::chapter = ::chapter;
