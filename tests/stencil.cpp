// The suite of the stencil chapter: what every step must compute, and what each of them must gain.
#include "stencil.hpp"

#include "check/data.hpp"
#include "error.hpp"
#include "judge/trial.hpp"
#include "watch.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <iomanip>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

using kata::Buffer;
using kata::Module;
using kata::only_on_a_gpu;
using kata::Order;
using kata::require_right;
using stencil::Coefficients;

namespace {

std::size_t cells(int n) {
    const auto side = static_cast<std::size_t>(n);
    return side * side * side;
}

template <class T>
std::string bits_of(T value) {
    std::array<unsigned char, sizeof value> bytes;
    std::memcpy(bytes.data(), &value, sizeof value);
    std::ostringstream text;
    text << "0x" << std::hex << std::setfill('0');
    for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte) text << std::setw(2) << int{*byte};
    return text.str();
}

bool on_boundary(int x, int y, int z, int n) {
    return x == 0 || x == n - 1 || y == 0 || y == n - 1 || z == 0 || z == n - 1;
}

/// How many cells a block of the step under test writes along an axis; 0 where that is not known.
int out_tile();

constexpr int ladder_n = 60;

/// How many sweeps a call of the step makes.
int sweeps_of(const Module& step) { return step.has("sweep_twice_float") ? 2 : 1; }

template <class T>
void call(const Module& step, const T* in, T* out, int n, Coefficients<T> c) {
    if constexpr (std::is_same_v<T, float>)
        step.function<decltype(sweep_float)>(sweeps_of(step) == 2 ? "sweep_twice_float" : "sweep_float")(
            in, out, n, c);
    else
        step.function<decltype(sweep_double)>(sweeps_of(step) == 2 ? "sweep_twice_double" : "sweep_double")(
            in, out, n, c);
}

/// A sum has no NaN of its own and -0 equals 0, but what is only copied keeps its bits.
template <class T>
struct ExpectedGrid : kata::Expected {
    std::span<const T> in = {};
    int n = 0;

    std::optional<std::string> difference(const std::vector<T>& got, std::byte poison) {
        auto text = Expected::difference(got, poison);
        return text ? text : boundary_changed(got);
    }
    std::optional<std::string> boundary_changed(const std::vector<T>& got) const {
        std::size_t i = 0;
        for (int z = 0; z < n; ++z)
            for (int y = 0; y < n; ++y)
                for (int x = 0; x < n; ++x, ++i)
                    if (on_boundary(x, y, z, n) && std::memcmp(&got[i], &in[i], sizeof(T)) != 0) {
                        std::ostringstream text;
                        text << "a cell on the boundary is not the input, bit for bit: (x " << x << ", y "
                             << y << ", z " << z << ") has the bits " << bits_of(got[i]) << " instead of "
                             << bits_of(in[i]);
                        return text.str();
                    }
        return std::nullopt;
    }
};

template <class T>
struct Problem {
    int n;
    std::vector<T> in;
    Coefficients<T> c;
    bool exact = true;
    int sweeps = 1;
    bool several_calls = true;  ///< may make them: there is room for the cells in between

    std::string text() const {
        return "n = " + std::to_string(n) + (sizeof(T) == sizeof(float) ? " of float" : " of double") +
               (sweeps > 1 ? ", " + std::to_string(sweeps) + " sweeps" : "");
    }
    double outputs() const { return static_cast<double>(cells(n)) * sweeps; }
    double operations() const { return stencil::operations(n) * sweeps; }

    ExpectedGrid<T> expected() const {
        stencil::check(n);
        ExpectedGrid<T> e{
            {stencil::reference<T>(in, n, c), {}, {{n, n, n}, std::vector(3, out_tile())}}, in, n};
        // Each of the seven terms is rounded once as a product and up to six times in sums: 7 · eps ·
        // Σ|terms| and a little of second order. The reference, in double, has that error, too. A further
        // sweep has it once more, and adds up what the one before it has left.
        constexpr double error = 8 * (kata::rounding<T> + kata::rounding<double>);
        const Coefficients<double> wide{c.c0, c.c1, c.c2, c.c3, c.c4, c.c5, c.c6};
        if (!exact) {
            e.bound = stencil::magnitude<T>(in, n, c);
            for (auto& bound : e.bound) bound *= error;
        }
        for (int s = 1; s < sweeps; ++s) {
            if (!exact) {
                const auto terms = stencil::magnitude<double>(e.values, n, wide);
                e.bound = stencil::magnitude<double>(e.bound, n, wide);
                for (std::size_t i = 0; i < terms.size(); ++i) e.bound[i] += error * terms[i];
            }
            e.values = stencil::reference<double>(e.values, n, wide);
        }
        return e;
    }

    /// With which two coefficients exchanged a wrong result is the right one.
    std::optional<std::string> made_of(const Module&, const kata::Conditions&,
                                       const std::vector<T>& result) const {
        if (!exact || sweeps > 2 || n < 4 || result.size() >= kata::too_large_to_ask) return std::nullopt;
        using C = Coefficients<T>;
        constexpr T C::*all[]{&C::c0, &C::c1, &C::c2, &C::c3, &C::c4, &C::c5, &C::c6};
        for (std::size_t first = 0; first < std::size(all); ++first)
            for (std::size_t second = first + 1; second < std::size(all); ++second) {
                auto other = *this;
                std::swap(other.c.*all[first], other.c.*all[second]);
                if (other.c.*all[first] == other.c.*all[second]) continue;
                const auto cells = other.expected().values;
                if (std::equal(result.begin(), result.end(), cells.begin(),
                               [](T x, double y) { return static_cast<double>(x) == y; }))
                    return "it would be right if c" + std::to_string(first) + " and c" +
                           std::to_string(second) + " were exchanged";
            }
        return std::nullopt;
    }

    struct Device {
        const int n;
        const Coefficients<T> c;
        const int sweeps;
        kata::Input<T> in;
        Buffer<T> out, other;  // a second call reads the one and writes the other
        bool in_other = false;

        explicit Device(const Problem& p, std::byte poison)
            : n(p.n),
              c(p.c),
              sweeps(p.sweeps),
              in("in", p.in),
              out("out", p.in.size(), poison),
              other("second out", p.sweeps > 1 && p.several_calls ? p.in.size() : 0, poison) {}

        void run(const Module& step) {
            const T* from = in.data();
            T *to = out.data(), *next = other.data();
            for (int s = 0; s < sweeps; s += sweeps_of(step)) {
                call(step, from, to, n, c);
                from = to;
                std::swap(to, next);
            }
            in_other = from == other.data() && sweeps > 1;
        }
        double solved_by(const Module& step) const { return std::max(1, sweeps_of(step) / sweeps); }
        auto damage() const { return kata::damage_of(in, out, other); }
        auto result() const { return in_other ? other.values() : out.values(); }
    };
};

/// Seven that differ, also in size: whoever swaps two of them gets another sum.
template <class T>
constexpr Coefficients<T> distinct{3, -2, 5, 7, -4, 11, -6};

/// Small integers: every sum is exact, whatever the order, and a wrong index shows. Three sweeps make a value
/// of 15 at most 15 · 38³ < 2^24. In double they are too large for a float.
template <class T>
Problem<T> coded(int n, unsigned seed = 1, int calls = 1, const Module& step = kata::step()) {
    const int largest = std::is_same_v<T, double> ? 1 << 30 : 15;
    return {n, kata::coded<T>(cells(n), seed, largest), distinct<T>, true, calls * sweeps_of(step)};
}

template <class T>
Problem<T> real(int n, unsigned seed = 1, int calls = 1, const Module& step = kata::step()) {
    const auto c = kata::reals<T>(7, seed + 1000);
    return {n,
            kata::reals<T>(cells(n), seed),
            {c[0], c[1], c[2], c[3], c[4], c[5], c[6]},
            false,
            calls * sweeps_of(step)};
}

/// A grid too large to keep several references of: compared plane by plane.
template <class T>
struct Huge : Problem<T> {
    explicit Huge(int n)
        : Problem<T>{n,
                     kata::repeated(kata::coded<T>(kata::prime_period, 1), cells(n)),
                     distinct<T>,
                     true,
                     sweeps_of(kata::step()),
                     false} {}

    struct Planes {
        const Huge& p;

        std::optional<std::string> difference(const std::vector<T>& got, std::byte poison) const {
            const auto plane = static_cast<std::size_t>(p.n) * static_cast<std::size_t>(p.n);
            std::vector<T> swept;  // all sweeps but the last
            for (int s = 1; s < p.sweeps; ++s) {
                std::vector<T> next;
                next.reserve(p.in.size());
                for (int z = 0; z < p.n; ++z) {
                    const auto sums = stencil::reference_plane<T>(s == 1 ? p.in : swept, p.n, p.c, z);
                    next.insert(next.end(), sums.begin(), sums.end());
                }
                swept = std::move(next);
            }
            for (int z = 0; z < p.n; ++z) {
                const auto sums = stencil::reference_plane<T>(p.sweeps == 1 ? p.in : swept, p.n, p.c, z);
                const std::vector<T> expected(sums.begin(), sums.end());
                const std::span<const T> mine(got.data() + static_cast<std::size_t>(z) * plane, plane);
                if (auto text = kata::difference<T>(mine, expected, {{p.n, p.n}, {}, poison}))
                    return "in plane z = " + std::to_string(z) + ": " + *text;
            }
            return std::nullopt;
        }
    };
    Planes expected() const { return {*this}; }
};

}  // namespace

TEST_CASE("steps 01 to 05 make one sweep, step 06 makes two", "[equivalence]") {
    const int wanted = kata::step_name() < "06" ? 1 : 2;
    if (sweeps_of(kata::step()) != wanted)
        FAIL("the step defines no " << (wanted == 1 ? "sweep" : "sweep_twice") << "(): "
                                    << (wanted == 1 ? "stencil" : "twice") << ".cuh says what it defines");
    SUCCEED();
}

// In this order, and before all other calls of the process: what is decided in the first one is wrong then.
TEST_CASE("rows that begin at multiples of 16 bytes, and in the next call rows that do not",
          "[equivalence][step][05_wide_loads][06_two_sweeps]") {
    require_right(coded<float>(36));
    INFO("in a call after one with n = 36: is anything kept from an earlier call?");
    require_right(coded<float>(35));
}

TEST_CASE("a step sweeps a grid of several blocks and a bit", "[equivalence]") {
    require_right(coded<float>(35));  // large enough for a mistake to show its pattern
}

TEST_CASE("a step sweeps grids of every size around its block and tile", "[equivalence]") {
    // around the tile of 8 and its 6 outputs, the tile of 32 and its 30, the warp; primes
    const int n = GENERATE(1, 2, 3, 5, 6, 7, 8, 9, 13, 17, 30, 31, 33);
    require_right(coded<float>(n));
}

TEST_CASE("a step sweeps grids of double, whose integers are too large for a float", "[equivalence]") {
    const int n = GENERATE(0, 1, 2, 3, 7, 19, 31);
    require_right(coded<double>(n));
}

TEST_CASE("an empty grid is no work and no error", "[equivalence]") { require_right(coded<float>(0)); }

TEST_CASE("sweeps in a row with swapped buffers", "[equivalence]") {
    const int calls = GENERATE(2, 3);
    // More than three sweeps of integers are no longer exact in float.
    if (calls * sweeps_of(kata::step()) <= 3)
        require_right(coded<float>(13, 1, calls));
    else
        require_right(real<float>(13, 1, calls));
    require_right(coded<double>(7, 1, calls - 1));
}

TEST_CASE("the order of threads and blocks does not matter", "[equivalence]") {
    const auto order = GENERATE(Order::backwards, Order::shuffled);
    const unsigned seed = order == Order::shuffled ? GENERATE(1u, 2u) : 1u;
    CAPTURE(order == Order::shuffled, seed);
    require_right(coded<float>(32), {{.order = order, .seed = seed}});
}

TEST_CASE("rounding stays within the bound of the sum", "[equivalence]") {
    require_right(real<float>(29, 7));
    require_right(real<double>(23, 8));
}

TEST_CASE("a second grid gets an answer of its own", "[equivalence]") {
    require_right(coded<float>(12, 1));
    require_right(coded<float>(12, 2), {.poison = std::byte{0x3C}});
}

TEST_CASE("a large grid", "[equivalence]") { require_right(coded<float>(47)); }

TEST_CASE("more blocks than a block may have threads: grid and block cannot be exchanged",
          "[step][01_basic]") {
    require_right(coded<float>(81), kata::unmetered);  // 11³ blocks of 8³ threads
}

TEST_CASE("many threads share the cells", "[step][01_basic][02_shared_tile]") {
    constexpr int n = 47;
    const auto c = kata::counted(coded<float>(n));
    kata::require_at_least(static_cast<double>(cells(n)) / 4, static_cast<double>(c.threads),
                           "a thread computes many cells, one after the other, where "
                           "this step has a thread for each: a smaller grid would leave most of a GPU idle",
                           "threads for " + std::to_string(cells(n)) + " cells");
}

namespace {

/// What the step under test does with the grid of the ladder, of integers; run once.
const kata::Counts& on_the_ladder() {
    static const auto counts = kata::counted(coded<float>(ladder_n));
    return counts;
}

double requests(const kata::Counts& c) {
    return static_cast<double>(c.global_load.requests + c.global_store.requests);
}
/// Loads and stores of threads: a warp has as many lanes at work in one as its row has cells left.
double accesses(const kata::Counts& c) {
    return static_cast<double>(c.global_load.accesses + c.global_store.accesses);
}
double sectors(const kata::Counts& c) {
    return static_cast<double>(c.global_load.transactions + c.global_store.transactions);
}

}  // namespace

// A float takes half the room, and a warp's row of 32 of them half the passes. Where shorter rows of floats
// meet in banks, it may be four fifths.
TEST_CASE("floats are kept as floats in shared memory",
          "[step][02_shared_tile][03_thread_coarsened][04_register_tiled]") {
    constexpr int n = 31;
    const auto passes = [](const kata::Counts& c) { return kata::Quantity("shared_passes")(c); };
    kata::require_at_most(
        0.9 * passes(kata::counted(coded<double>(n))), passes(kata::counted(coded<float>(n))),
        "a grid of float takes as many passes over shared memory "
        "as one of double: is its tile of double, too?",
        "passes over the banks of shared memory for n = 31 of float", ", nine tenths of those of double");
}

// A cell has four neighbours in the plane, also where it is on the boundary and needs none; it is itself in a
// register, and so are those before and behind.
TEST_CASE("of the middle plane a thread reads its four neighbours", "[step][04_register_tiled]") {
    kata::require_at_most(
        4.3 * static_cast<double>(cells(ladder_n)), static_cast<double>(on_the_ladder().shared_load.accesses),
        "a thread reads from shared memory what it has in registers: "
        "its own elements of the middle plane or of those before and behind",
        "elements that threads read from shared memory for " + std::to_string(cells(ladder_n)) + " cells",
        ", which is four for each and a bit");
}

namespace {

/// The elements of shared memory that the first block reaches, for as long as it lives.
class Reached final : public kata::Watcher {
  public:
    Reached() { kata::watcher = this; }
    ~Reached() override { kata::watcher = nullptr; }
    Reached(const Reached&) = delete;
    Reached& operator=(const Reached&) = delete;
    void launch_begins(const kata::Scene&) override {}
    void request(const kata::Request& r) override {
        if (r.block != 0 || std::string_view(r.memory) != "shared") return;
        for (unsigned lane = 0; lane < r.addresses.size(); ++lane)
            if (r.lanes >> lane & 1) {
                all_.insert(r.addresses[lane]);
                between_barriers_[r.barriers].insert(r.addresses[lane]);
            }
    }
    double all() const { return static_cast<double>(all_.size()); }
    double most_between_barriers() const {
        std::size_t most = 0;
        for (const auto& [barriers, reached] : between_barriers_) most = std::max(most, reached.size());
        return static_cast<double>(most);
    }

  private:
    std::set<std::uintptr_t> all_;
    std::map<unsigned, std::set<std::uintptr_t>> between_barriers_;
};

}  // namespace

// Two planes that take turns are right, too: they spare a barrier.
TEST_CASE("shared memory holds the middle plane and no other", "[claims][step][04_register_tiled]") {
    kata::only_where_counted();
    const Reached reached;
    require_right(coded<float>(13));
    kata::require_at_most(
        2.5 * reached.most_between_barriers(), reached.all(),
        "shared memory holds planes that nobody reads any more: only the middle "
        "plane is read by other threads, and one plane has room for it, or two that take turns",
        "elements of shared memory that a block uses",
        ", which is 2.5 times what it reaches between two barriers");
}

// The solution's blocks have rows of eight cells. Rows of two need 2.57 times as many sectors.
TEST_CASE("the cells of a warp lie in few rows", "[claims][step][01_basic]") {
    kata::only_where_counted();
    const auto theirs = kata::counted_of(kata::step_name(), coded<float>(ladder_n));
    kata::require_at_most(
        2 * sectors(theirs), sectors(on_the_ladder()),
        "its accesses are poorly coalesced: the cells of a warp lie in many short "
        "rows, so that each load reaches many sectors; does x count along a row, and how many threads does a "
        "block have along x?",
        "32-byte sectors loaded and stored for " + std::to_string(cells(ladder_n)) + " cells",
        ", which is twice the solution's");
}

// A boundary that is written apart is a few cells more; a pass for each axis stores three times.
TEST_CASE("each cell is stored once",
          "[step][01_basic][02_shared_tile][03_thread_coarsened][04_register_tiled]") {
    constexpr int n = 47;
    const auto c = kata::counted(coded<float>(n));
    kata::require_at_most(1.75 * static_cast<double>(cells(n)), static_cast<double>(c.global_store.accesses),
                          "cells are stored more than once: what a thread adds up "
                          "it should keep in a register, and store when the sum is complete",
                          "stores for " + std::to_string(cells(n)) + " cells");
}

TEST_CASE("more rows than a grid has blocks along y", "[step][01_basic][02_shared_tile]") {
    constexpr int n = 257;
    const auto last = cells(n) - 1;
    Buffer<float> in("in", cells(n), kata::zeros), out("out", cells(n), kata::zeros);
    in.set(0, 3);
    in.set(last, 5);
    kata::require_right_at_ends(
        [&](const Module& step) {
            step.function<decltype(sweep_float)>("sweep_float")(in.data(), out.data(), n, distinct<float>);
        },
        [&]() -> std::optional<std::string> {
            if (out.element(0) != 3 || out.element(last) != 5)
                return "n = 257, the first cell is 3 and the last is 5: out has " +
                       std::to_string(out.element(0)) + " and " + std::to_string(out.element(last));
            return kata::damage_of(in, out);
        });
}

namespace {

/// A grid that is zero but in two of its corners.
struct Corners {
    static constexpr int side = 4, far = 12;  // of a corner, and of a grid that has both and no more
    int n;
    Buffer<float> in, out;
    Problem<float> small;  // with the same corners, for what is expected

    explicit Corners(int side_of_grid)
        : n(side_of_grid),
          in("in", elements(), kata::zeros),
          out("out", elements(), kata::zeros),
          small(coded<float>(far)) {
        small.in.assign(small.in.size(), 0);
        for (int i = 0; i < cells_of_corner; ++i)
            for (const bool last : {false, true}) {
                const auto value = static_cast<float>(1 + (i + (last ? 3 : 0)) % 7);
                in.set(cell(i, last, n), value);
                small.in[cell(i, last, far)] = value;
            }
    }
    std::string text() const { return "n = " + std::to_string(n); }
    std::size_t elements() const { return cells(n); }
    void run(const Module& step) { call(step, in.data(), out.data(), n, small.c); }
    std::optional<std::string> fault() const {
        const auto expected = small.expected().values;
        for (int i = 0; i < cells_of_corner; ++i)
            for (const bool last : {false, true})
                if (const auto at = cell(i, last, n); out.element(at) != expected[cell(i, last, far)])
                    return "cell " + std::to_string(at) + " of " + std::to_string(n) + " x " +
                           std::to_string(n) + " x " + std::to_string(n) + ": expected " +
                           std::to_string(expected[cell(i, last, far)]) + ", got " +
                           std::to_string(out.element(at));
        return kata::damage_of(in, out);
    }

  private:
    static constexpr int cells_of_corner = side * side * side;
    /// The index of a corner's cell in a grid.
    static std::size_t cell(int i, bool last, int n) {
        const int first = last ? n - side : 0;
        const auto x = static_cast<std::size_t>(first + i % side),
                   y = static_cast<std::size_t>(first + i / side % side),
                   z = static_cast<std::size_t>(first + i / side / side), row = static_cast<std::size_t>(n);
        return (z * row + y) * row + x;
    }
};

}  // namespace

// A corner of four cells lies in one block where tiles have 6, 8, 16, 30 or 120 cells: the few blocks at the
// ends of the grid have all of it.
TEST_CASE("a grid of more bytes than 32 bits count", "[equivalence]") {
    kata::require_right_beyond_32_bits<Corners>([] { return Corners(268); }, [] { return Corners(1036); });
}

// Of the large grid next to nothing is run.
TEST_CASE("a large grid takes no more launches than a small one", "[claims]") {
    const auto small = kata::counted(coded<float>(13));
    Corners grid(516);
    const auto large = kata::glanced_at(grid);
    if (!large) return;
    kata::require_at_most(static_cast<double>(small.launches), static_cast<double>(large->launches),
                          "a large grid takes more launches, each of which waits for "
                          "the one before: a launch may have as many blocks as there are cells",
                          "launches for n = 516", ", as for n = 13");
}

// Up to the last block along an axis, which may have little to do, the share of a thread is that of a small
// grid.
TEST_CASE("a thread of a large grid has as many cells as one of a small grid",
          "[claims][step][05_wide_loads]") {
    const double small = static_cast<double>(cells(ladder_n)) / static_cast<double>(on_the_ladder().threads);
    Corners grid(516);
    const auto large = kata::glanced_at(grid);
    if (!large) return;
    kata::require_at_most(
        4 * small, static_cast<double>(grid.elements()) / static_cast<double>(large->threads),
        "blocks of a large grid march through more planes than those of a small "
        "one: blocks that run together drift apart then, and each fetches from memory what another one has "
        "fetched before",
        "cells for each thread for n = 516", ", which is four times those for n = 60");
}

TEST_CASE("rows that begin at multiples of four cells, also of several blocks",
          "[equivalence][step][05_wide_loads][06_two_sweeps]") {
    require_right(coded<float>(GENERATE(4, 12, 28)));
    require_right(coded<double>(GENERATE(4, 20)));
}

TEST_CASE("rows of more cells than a block has", "[equivalence][step][05_wide_loads][06_two_sweeps]") {
    // Of the second block the first columns, and no more than the halo of the first one.
    require_right(coded<float>(GENERATE(132, 124)), kata::unmetered);
}

TEST_CASE("more planes than a block marches through, in rows of any length",
          "[equivalence][step][06_two_sweeps]") {
    require_right(coded<float>(67), kata::unmetered);
    require_right(coded<double>(66), kata::unmetered);
}

TEST_CASE("a problem of one sweep is solved once in a call, and twice by a step of two",
          "[step][05_wide_loads][06_two_sweeps]") {
    auto one = real<float>(8);
    one.sweeps = 1;
    const double calls = Problem<float>::Device(one, kata::poison).solved_by(kata::step());
    CHECK(calls == (kata::step_name() == "05_wide_loads" ? 1 : 2));
    one.sweeps = 2;  // in two calls, or in one
    CHECK(Problem<float>::Device(one, kata::poison).solved_by(kata::step()) == 1);
    CHECK(kata::TimedOn<Problem<float>>(one, 0).solved_by(kata::step()) == 1);
    one.sweeps = 1;
    CHECK(kata::TimedOn<Problem<float>>(one, 0).solved_by(kata::step()) == calls);
}

// A boundary by itself is a few cells.
TEST_CASE("no cell is moved twice, by a copy of the grid or in the kernel",
          "[step][05_wide_loads][06_two_sweeps]") {
    const auto& c = on_the_ladder();
    kata::require_at_most(1.5 * static_cast<double>(cells(ladder_n) * sizeof(float)),
                          static_cast<double>(c.global_store.bytes + c.bytes_beside / 2),
                          "cells are stored twice, as where the whole grid is copied "
                          "for the sake of its boundary, or a sweep goes through memory",
                          "bytes stored and copied for " + std::to_string(cells(ladder_n)) + " cells");
}

TEST_CASE("a grid of double takes no more launches than one of float",
          "[claims][step][05_wide_loads][06_two_sweeps]") {
    kata::require_at_most(static_cast<double>(on_the_ladder().launches),
                          static_cast<double>(kata::counted(coded<double>(ladder_n)).launches),
                          "a grid of double takes more launches than one of float, each of which "
                          "waits for the one before: are its sweeps made one by one, through memory?",
                          "launches for n = " + std::to_string(ladder_n) + " of double", ", as for float");
}

// Two doubles are 16 bytes, as are four floats; some load four.
TEST_CASE("cells of double are loaded several at a time, too", "[step][05_wide_loads][06_two_sweeps]") {
    const double of_float = accesses(on_the_ladder()),
                 stores_of_float = static_cast<double>(on_the_ladder().global_store.accesses);
    const auto require_wide = [&](int n) {
        const auto c = kata::counted(coded<double>(n));
        kata::require_at_most(2.6 * of_float, accesses(c),
                              "cells of double are loaded one at a time, although their rows begin at "
                              "multiples of 16 bytes, which are two of them",
                              "times that a thread loads from or stores to global memory for n = " +
                                  std::to_string(n) + " of double",
                              ", which is 2.6 times those for n = 60 of float");
        kata::require_at_most(
            2.6 * stores_of_float, static_cast<double>(c.global_store.accesses),
            "cells of double are stored one at a time, although their rows begin at "
            "multiples of 16 bytes, which are two of them",
            "times that a thread stores to global memory for n = " + std::to_string(n) + " of double",
            ", which is 2.6 times those for n = 60 of float");
    };
    require_wide(ladder_n);
    // Step 05 asks for rows that begin at multiples of four.
    if (kata::step_name() == "06_two_sweeps") require_wide(ladder_n + 2);
}

TEST_CASE("rows that begin anywhere are coalesced, too", "[step][05_wide_loads][06_two_sweeps]") {
    const auto& even = on_the_ladder();
    if (static_cast<double>(even.lines) > 8 * requests(even)) return;  // which is told elsewhere
    const auto any = kata::counted(coded<float>(ladder_n + 1));
    kata::require_at_most(3 * sectors(even), sectors(any),
                          any.launches > even.launches
                              ? "where n is no multiple of four there are more "
                                "launches than elsewhere: are the sweeps made one by one, through memory?"
                              : "where n is no multiple of four the lanes of a warp "
                                "reach cells that lie apart",
                          "sectors loaded and stored for n = 61", ", which is three times those for n = 60");
}

// 4.8 for a cell. A march of 64 planes loads four that give no result, and so does one of 16, which
// needs 5.76 and is right.
TEST_CASE("blocks march through many planes", "[step][06_two_sweeps]") {
    kata::require_at_most(
        6.0 * static_cast<double>(cells(ladder_n)), static_cast<double>(on_the_ladder().global_load.bytes),
        "blocks march through few planes, or their tiles have few rows: four planes "
        "of a march and four rows of a tile are loaded and swept, and give no result",
        "bytes loaded for " + std::to_string(cells(ladder_n)) + " cells", ", which is 6 for each");
}

// A cell stored there is loaded for the rows above and below, and once more by who keeps none in a register.
TEST_CASE("neighbours along a row come from the warp", "[claims][step][06_two_sweeps]") {
    const auto& c = on_the_ladder();
    kata::require_at_most(3 * static_cast<double>(c.shared_store.requests),
                          static_cast<double>(c.shared_load.requests),
                          "the neighbours along a row come from shared memory: those "
                          "of a thread are in registers of the threads beside it, which a shuffle reads",
                          "loads of warps from shared memory for three times the stores there");
}

TEST_CASE("a very large grid", "[equivalence]") {
    only_on_a_gpu();
    require_right(coded<float>(257));
    require_right(coded<double>(211));
}

TEST_CASE("infinities and NaN reach the cells that see them, and no others", "[equivalence]") {
    auto p = coded<float>(11);
    p.in[(5 * 11 + 7) * 11 + 3] = std::numeric_limits<float>::infinity();
    p.in[(2 * 11 + 4) * 11 + 8] = std::numeric_limits<float>::quiet_NaN();
    require_right(p);
}

TEST_CASE("coefficients of 0 are coefficients like any other", "[equivalence]") {
    auto p = coded<float>(9);
    p.c = GENERATE(Coefficients<float>{0, 1, 0, 2, 0, 3, 0}, Coefficients<float>{5, 0, 4, 0, 3, 0, 2},
                   Coefficients<float>{});
    require_right(p, {.poison = kata::nan_poison});
}

TEST_CASE("a coefficient of 0 times an infinity is no number", "[equivalence]") {
    auto p = coded<float>(9);
    p.in[(4 * 9 + 4) * 9 + 4] = std::numeric_limits<float>::infinity();
    p.c = GENERATE(Coefficients<float>{0, 1, 0, 2, 0, 3, 0}, Coefficients<float>{5, 0, 4, 0, 3, 0, 2});
    require_right(p);
}

namespace {

/// The problem with `values` over and over on its boundary.
template <class T>
Problem<T> with_boundary(Problem<T> p, std::initializer_list<T> values) {
    std::size_t i = 0, next = 0;
    for (int z = 0; z < p.n; ++z)
        for (int y = 0; y < p.n; ++y)
            for (int x = 0; x < p.n; ++x, ++i)
                if (on_boundary(x, y, z, p.n)) p.in[i] = values.begin()[next++ % values.size()];
    return p;
}

}  // namespace

TEST_CASE("a boundary of -0 and the smallest numbers keeps its bits", "[equivalence]") {
    require_right(with_boundary(coded<float>(9), {-0.0f, 0x1p-149f, 1.0f}));
    require_right(with_boundary(coded<double>(7), {-0.0, 0x1p-1074, 1.0}));
}

TEST_CASE("a boundary of several NaN keeps their bits", "[equivalence]") {
    const float quiet = std::nanf("0x12345");
    require_right(with_boundary(coded<float>(9), {quiet, 2.0f, -quiet, -0.0f}));
    require_right(with_boundary(coded<double>(7), {std::nan("0x123456789"), 2.0}));
}

TEST_CASE("a grid of 2^30 bytes", "[.huge][equivalence]") {
    only_on_a_gpu();
    require_right(Huge<double>(512), {{.time_limit = 60}});
}

TEST_CASE("the largest grid, of more than 2^32 bytes", "[.huge][equivalence]") {
    only_on_a_gpu();
    require_right(Huge<float>(stencil::max_n), {{.time_limit = 60}});
}

// What each step gains, counted on a grid of as much work as 15 tiles of 30 outputs along an axis, shared out
// to 27 blocks: about one tile for each multiprocessor of kata::machine. Of the ladder's grid there are
// eight.

namespace {

const kata::Step steps[] = {
    {.name = "01_basic", .traits = "[base]"},
    {.name = "02_shared_tile",
     .before = "01_basic",
     .traits = "[base]",
     .beats =
         {
             {"01_basic", "bytes_loaded", 2.5,
              "a block reads its input tile once instead of once for every neighbour", "PMPP-notes 8.3"},
             // Times, of 1024³ cells of float. On an H100 (sm_90):
             // 0.53 times, although step 01 asks for 2.9 times the bytes. Here a cell takes 2.4 threads,
             // needs more different sectors, and is stored in rows of six, which fill none.
             {"01_basic", "milliseconds", 1.0, "the rereading moves on chip", "PMPP-notes 8.3",
              kata::Claim::Standing::refuted},
         }},
    {.name = "03_thread_coarsened",
     .before = "02_shared_tile",
     .traits = "[base]",
     .beats =
         {
             {"02_shared_tile", "bytes_loaded", 1.5,
              "of a tile of 32³ elements fewer are halo than of one of 8³", "PMPP-notes 8.4"},
             {"02_shared_tile", "threads", 10.0,
              "a thread computes a column of cells, so that a block has T² threads and not T³",
              "PMPP-notes 8.4"},
             {"02_shared_tile", "sectors_loaded", 1.5,
              "a warp reads a row of 32 elements instead of four rows of 8", "PMPP-notes 8.3, 8.4"},
             // 1.90 times.
             {"02_shared_tile", "milliseconds", 1.4,
              "fewer threads, less halo, and rows that fill their sectors", "PMPP-notes 8.4"},
             // 1.00 times, and 1.33 times with loads a round ahead.
             {"01_basic", "milliseconds", 1.1, "a tile of 32³ elements makes shared memory pay",
              "PMPP-notes 8.4", kata::Claim::Standing::refuted},
         }},
    {.name = "04_register_tiled",
     .before = "03_thread_coarsened",
     .traits = "[base]",
     .beats =
         {
             {"03_thread_coarsened", "shared_passes", 1.5,
              "the planes before and behind are in registers, and only the middle one in shared memory",
              "PMPP-notes 8.5"},
             {"03_thread_coarsened", "bytes_loaded", 0.6,
              "registers take the place of shared memory, and global memory is read as before",
              "PMPP-notes 8.5"},
             // 1.17 times, and 1.03 times where both load a round ahead (their variants prefetched): most of
             // the gain is time that step 03 waits for its loads, and not the passes.
             {"03_thread_coarsened", "milliseconds", 1.05,
              "registers spare most of the passes over shared memory", "PMPP-notes 8.5",
              kata::Claim::Standing::asserted, std::nullopt, "sm_90"},
             // 1.17 times.
             {"01_basic", "milliseconds", 1.03,
              "tiling pays in the end, for it needs neither the rereading nor much of shared memory",
              "PMPP-notes 8.5", kata::Claim::Standing::asserted, std::nullopt, "sm_90"},
         }},
    {.name = "05_wide_loads",
     .before = "04_register_tiled",
     .traits = "[base]",
     .beats =
         {
             {"04_register_tiled", "shared_passes", 1000.0,
              "neighbours come from the caches, and not from shared memory", "not in the documents"},
             {"04_register_tiled", "barriers", 1000.0, "no thread needs what another one has loaded",
              "not in the documents"},
             {"01_basic", "global_requests", 2.0, "a load brings four cells instead of one",
              "not in the documents"},
             {"04_register_tiled", "sectors_stored", 0.6,
              "a store takes four cells of a row, and those of a warp fill their sectors",
              "not in the documents"},
             // 3.06 ms against 4.99 and 5.82.
             {"04_register_tiled", "milliseconds", 1.4,
              "no thread is on a halo, none waits at a barrier, and loads are few and under way together",
              "not in the documents"},
             {"01_basic", "milliseconds", 1.5, "a load brings four cells instead of one",
              "not in the documents"},
         }},
    {.name = "06_two_sweeps",
     .before = "05_wide_loads",
     .traits = "[large]",
     .beats =
         {
             // Both make two sweeps.
             {"05_wide_loads", "sectors_stored", 1.9, "cells are stored after the second sweep only",
              "not in the documents"},
             {"05_wide_loads", "sectors_loaded", 4.0,
              "cells are loaded for the first sweep only, and then neighbours are on chip",
              "not in the documents"},
             {"05_wide_loads", "global_requests", 4.0,
              "a load or a store is for four cells, as before, and neighbours take none",
              "not in the documents"},
             // 1.74 times: 3.52 ms for two sweeps against 2 · 3.06.
             {"05_wide_loads", "milliseconds", 1.3, "two sweeps read the grid once and write it once",
              "not in the documents"},
         }},
};

constexpr std::pair<std::string_view, int> out_tiles[] = {
    {"01_basic", 8}, {"02_shared_tile", 6}, {"03_thread_coarsened", 30}, {"04_register_tiled", 30}};

int out_tile() {
    for (const auto& [step, tile] : out_tiles)
        if (step == kata::step_name()) return tile;
    return 0;
}

}  // namespace

// The figures of the documents, to the digit. Operations are the multiplications and additions of the cells
// that are computed, bytes those that threads load from global memory, whether or not a cache has them: the
// documents' own rule.

namespace {

/// As a document prints it.
std::string rounded(double value, int decimals) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(decimals) << value;
    return text.str();
}

/// What the block in the middle of 3 x 3 x 3 does. `n` is such that none of its cells is on the boundary.
kata::Counts figures_inside(int n) {
    // The other 26 blocks run, too, and take longer than a launch usually may on a busy machine.
    const auto c = kata::counted(coded<float>(n), {.only_block = 13, .time_limit = 60});
    CHECK(c.blocks == 1);
    return c;
}

/// How many times as much a step does as another one, of one thing, over the grid of the ladder.
double times(std::uint64_t more, std::uint64_t less) {
    return static_cast<double>(more) / static_cast<double>(less);
}
kata::Counts rivals(const char* step) { return counts_of(try_on(kata::rival(step), coded<float>(ladder_n))); }

/// Different sectors that a block of 8³ cells in the middle of 24³ needs, its neighbours included.
std::size_t sectors_of_block() {
    std::set<int> sectors;
    for (int z = 8; z < 16; ++z)
        for (int y = 8; y < 16; ++y)
            for (int x = 8; x < 16; ++x)
                for (const int distance : {0, 1, -1, 24, -24, 24 * 24, -24 * 24})
                    sectors.insert(((z * 24 + y) * 24 + x + distance) / 8);
    return sectors.size();
}

/// Of `outputs` cells inside the grid.
double intensity(double outputs, const kata::Counts& c) {
    return 13 * outputs / static_cast<double>(c.global_load.bytes);
}

/// 13 operations for each of (T - 2)³ cells, 4 bytes for each of T³ elements.
double tiled_intensity(double tile) { return 13.0 / 4 * std::pow(1 - 2 / tile, 3); }

constexpr double power(int base, int exponent) {
    return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

/// What tiles can reach at best, each element loaded once: a multiplication and an addition for every point
/// of the pattern, 4 bytes for one element. A stencil of order r has the centre and 2r points along each
/// axis, a convolution of radius r all points of a cube.
constexpr double limit_of_stencil(int axes, int r) { return (2 * axes * r + 1) * 2 / 4.0; }
constexpr double limit_of_convolution(int axes, int r) { return power(2 * r + 1, axes) * 2 / 4; }

}  // namespace

TEST_CASE("01 basic: 13/(7*4) = 0.46 OP/B", "[figures][01_basic]") {
    const auto c = figures_inside(24);
    CHECK(c.global_load.accesses == 7 * 8 * 8 * 8);
    // A warp is four rows of 8 cells, each a sector of its own: one step to the left or right touches two.
    CHECK(c.global_load.transactions == 16 * (5 * 4 + 2 * 4 * 2));
    CHECK(c.global_store.transactions == 16 * 4);
    CHECK(sectors_of_block() == 224);
    CHECK(rounded(224 / 512.0, 2) == "0.44");
    CHECK(intensity(8 * 8 * 8, c) == 13 / (7 * 4.0));
    CHECK(rounded(13 / (7 * 4.0), 2) == "0.46");
}

TEST_CASE("02 shared tile: 13/4 * (1 - 2/T)^3 = 1.37 OP/B at T = 8, and 3.25 at most",
          "[figures][02_shared_tile]") {
    const auto c = figures_inside(18);
    CHECK(c.global_load.accesses == 8 * 8 * 8);
    CHECK(c.threads == 8 * 8 * 8);
    CHECK(c.global_store.accesses == 6 * 6 * 6);
    CHECK(c.bank_conflicts == 0);
    CHECK(c.barriers == 1);
    CHECK(intensity(6 * 6 * 6, c) == tiled_intensity(8));
    CHECK(rounded(tiled_intensity(8), 2) == "1.37");
    CHECK(rounded(tiled_intensity(1e9), 2) == "3.25");
    CHECK(rounded(tiled_intensity(10), 2) == "1.66");  // the largest tile for which T³ threads fit in a block
    CHECK((10 * 10 * 10 <= 1024 && 1024 < 11 * 11 * 11));
}

TEST_CASE("02 shared tile: a warp reads four rows of 8 elements", "[figures][02_shared_tile]") {
    // The tile of the middle block begins 5 cells into a row of 16: its own rows of 8 lie in two sectors
    // each.
    const auto c = figures_inside(16);
    CHECK(c.global_load.requests == 16);
    CHECK(c.global_load.transactions == 16 * 4 * 2);
    CHECK(c.global_store.transactions == 6 * 6 * 2);
    CHECK(rounded(128 / 216.0, 2) == "0.59");  // sectors a cell
}

TEST_CASE("02 shared tile: step 01 asks for 2.9 times the bytes, step 03 has a 62nd of the threads",
          "[figures][02_shared_tile]") {
    const auto c = kata::counted(coded<float>(ladder_n));
    CHECK(rounded(times(rivals("01_basic").global_load.bytes, c.global_load.bytes), 1) == "2.9");
    CHECK(rounded(times(c.threads, cells(ladder_n)), 1) == "2.4");  // threads a cell
    CHECK(times(c.threads, rivals("03_thread_coarsened").threads) == 62.5);
}

/// A plane of a tile of T = 32, in bytes.
constexpr std::size_t plane_bytes = 32 * 32 * sizeof(float);

TEST_CASE("03 thread coarsened: 13/4 * (1 - 2/T)^3 = 2.68 OP/B at T = 32, and three planes, 12 KiB",
          "[figures][03_thread_coarsened]") {
    const auto c = figures_inside(64);
    CHECK(c.global_load.accesses == 32 * 32 * 32);
    CHECK(c.threads == 32 * 32);
    CHECK(c.global_store.accesses == 30 * 30 * 30);
    CHECK(c.global_load.requests == 32 * 32);  // a row of 32 elements, which lies in five sectors
    CHECK(c.global_load.transactions == 32 * 32 * 5);
    CHECK(rounded(32 * 32 * 5 / (30.0 * 30 * 30), 2) == "0.19");  // sectors a cell
    CHECK(intensity(30 * 30 * 30, c) == tiled_intensity(32));
    CHECK(rounded(tiled_intensity(32), 2) == "2.68");
    // Two planes before the march; in each of 30 rounds a thread stores to all three, reads two of them to
    // move the planes on, and seven elements if it has a cell.
    CHECK(c.shared_store.accesses == 32 * 32 * (2 + 30 * 3));
    CHECK(c.shared_load.accesses == 32 * 32 * 30 * 2 + 30 * 30 * 30 * 7);
    CHECK(c.bank_conflicts == 0);
    CHECK(c.barriers == 2 * 30);
    CHECK(3 * plane_bytes == 12 * 1024);
    CHECK(32 * plane_bytes == 128 * 1024);  // what step 02 would need for this tile
}

TEST_CASE("04 register tiled: 2.68 OP/B as before, and a third of the shared memory, 4 KiB",
          "[figures][04_register_tiled]") {
    const auto c = figures_inside(64);
    CHECK(c.global_load.accesses == 32 * 32 * 32);
    CHECK(c.global_store.accesses == 30 * 30 * 30);
    CHECK(intensity(30 * 30 * 30, c) == tiled_intensity(32));
    // One plane: a thread stores one element before the march and one in each of its 30 rounds, and reads
    // those of its four neighbours.
    CHECK(c.shared_store.accesses == 32 * 32 * (1 + 30));
    CHECK(c.shared_load.accesses == 30 * 30 * 30 * 4);
    CHECK(c.bank_conflicts == 0);
    CHECK(c.barriers == 2 * 30);
    CHECK(plane_bytes == 4 * 1024);
}

TEST_CASE("04 register tiled: 2.5 times fewer passes than step 03", "[figures][04_register_tiled]") {
    const auto passes = [](const kata::Counts& c) { return kata::Quantity("shared_passes")(c); };
    const double mine = passes(kata::counted(coded<float>(ladder_n))),
                 theirs = passes(rivals("03_thread_coarsened"));
    CHECK(mine == 34'848);
    CHECK(theirs == 86'480);
    CHECK(rounded(theirs / mine, 1) == "2.5");
}

TEST_CASE("05 wide loads: 16 B a cell, 22 loads and 4 stores of a thread for 16 cells",
          "[figures][05_wide_loads]") {
    // A block of 60 x 8 x 4 cells, none of them at the ends of y and z. Four cells a load: those before and
    // here, and in each of four planes those behind, above and below; and one on either side.
    const auto c = kata::counted(coded<float>(60), {.only_block = 7 * 8 + 3});
    constexpr unsigned warps = 8, lanes = 60 / 4;
    CHECK(c.global_load.requests == warps * (2 + 4 * 5));
    CHECK(c.global_store.requests == warps * 4);
    CHECK(c.global_load.bytes == warps * lanes * (2 * 16 + 4 * (3 * 16 + 2 * 4)));
    CHECK(c.global_load.bytes == 16 * 60 * 8 * 4);
    CHECK(c.barriers == 0);
    CHECK(kata::Quantity("shared_passes")(c) == 0);
}

TEST_CASE("06 two sweeps: 20 rows are loaded for 16, each cell once, and stored after the second sweep",
          "[figures][06_two_sweeps]") {
    // The second of four blocks along y; along x and z the grid ends before the tile does.
    constexpr unsigned n = 60, rows = 20, results = 16, lanes = n / 4, rounds = n + 2;
    const auto c = kata::counted(coded<float>(n), {.only_block = 1});
    CHECK(c.global_load.requests == rows * n);
    CHECK(c.global_load.bytes == rows * n * lanes * 16);
    CHECK(c.global_store.requests == results * n);
    CHECK(c.global_store.bytes == results * n * lanes * 16);
    CHECK(c.barriers == rounds);
    // A row is four passes. Both planes are stored, and of each the rows above and below are loaded.
    CHECK(kata::Quantity("shared_passes")(c) == rows * rounds * 4 * (2 + 4));
    CHECK(c.bank_conflicts == 0);
    // Of a block inside the grid: bytes loaded for a result, and cells of the first sweep.
    CHECK(rounded(4 * 128.0 * 20 * 68 / (120 * 16 * 64), 1) == "5.7");
    CHECK(rounded(128.0 * 20 * 66 / (120 * 16 * 64), 2) == "1.38");
    CHECK(rounded((20 / 16.0) / (68 / 64.0), 2) == "1.18");
}

TEST_CASE("limits by order, stencil against convolution: 2-D 2.5/4.5, 4.5/12.5, 6.5/24.5; 3-D 9.5/171.5",
          "[figures][01_basic]") {
    CHECK((limit_of_stencil(2, 1) == 2.5 && limit_of_convolution(2, 1) == 4.5));
    CHECK((limit_of_stencil(2, 2) == 4.5 && limit_of_convolution(2, 2) == 12.5));
    CHECK((limit_of_stencil(2, 3) == 6.5 && limit_of_convolution(2, 3) == 24.5));
    CHECK((limit_of_stencil(3, 3) == 9.5 && limit_of_convolution(3, 3) == 171.5));
    // This rule counts an addition more than the sum of the chapter has: 3.5 where 13/4 is 3.25.
    CHECK((limit_of_stencil(3, 1) == 3.5 && limit_of_stencil(3, 1) - 1 / 4.0 == 3.25));
}

TEST_CASE("sides outside the limits are refused in one line", "[limits]") {
    const int n = GENERATE(-1, stencil::max_n + 1);
    CAPTURE(n);
    CHECK_THROWS_AS(stencil::check(n), std::invalid_argument);
    CHECK_NOTHROW(stencil::check(stencil::max_n));
}

namespace {

Problem<float> large_real(int n) {
    const auto c = kata::reals(7, 1001);
    return {n,
            kata::repeated(kata::reals(kata::prime_period, 1), cells(n)),
            {c[0], c[1], c[2], c[3], c[4], c[5], c[6]},
            false};
}

}  // namespace

static const kata::Chapter chapter{
    .name = "stencil",
    .problem = "a grid of 60 x 60 x 60 cells",
    .timed_problem = "a grid of 1024 x 1024 x 1024 cells, a sweep",
    .steps = steps,
    .ladder = [](const Module& step) { return try_on(step, ::real<float>(ladder_n, 1, 1, step)); },
    // As many sweeps as a call of the step under test makes, of whichever step is run beside it.
    .shapes = {{"base", [](const Module& step) { return try_on(step, ::coded<float>(76, 1, 1, step)); },
                "[base]"},
               {"large",
                [](const Module& step) {
                    return try_on(step, ::coded<float>(116, 1, 2 / sweeps_of(step), step));
                },
                "[large]"}},
    .sketch = [](const Module& step) -> kata::Sketch {
        constexpr int n = 32;
        return {try_on(step, ::coded<float>(n, 1, 1, step)),
                "a grid of 32 x 32 x 32 cells",
                "planes",
                {{"in", {n, n, n}}, {"out", {n, n, n}}}};
    },
    .timed =
        [](std::optional<int>) {
            constexpr int n = 1024;
            return std::make_unique<kata::TimedOn<Problem<float>>>(large_real(n),
                                                                   8.0 * static_cast<double>(cells(n)));
        },
    .at_scale =
        [](const Module& step, std::optional<int>) {
            constexpr int n = 1024;
            Buffer<float> in("in", cells(n), kata::zeros), out("out", cells(n), kata::zeros);
            call<float>(step, in.data(), out.data(), n, {});
            return kata::AtScale{stencil::operations(n) * sweeps_of(step), 1.0 / sweeps_of(step)};
        },
    .columns = {"bytes_loaded", "bytes_stored", "sectors", "load_efficiency", "shared_passes", "barriers",
                "intensity"},
};
const kata::Chapter& kata::chapter = ::chapter;
