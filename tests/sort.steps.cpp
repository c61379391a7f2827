// The sort chapter as data: the purpose of each step, and the arrays on which it is counted.
#include "judge/suite.hpp"
#include "sort.problem.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace sort::problem;
using sort::Keys;
using sort::Pair;

namespace {

constexpr std::string_view merging = "PMPP, chapter on merge";
constexpr std::string_view sorting = "PMPP, chapter on sort";

// Above a timed claim is the factor that an NVIDIA H200 measured for 2^28 keys of 32 bits.
const kata::Step steps[] = {
    {.name = "01_ranks", .entry = "merge_lists", .traits = "[lists]"},
    {.name = "02_merge_path",
     .before = "01_ranks",
     .entry = "merge_lists",
     .traits = "[lists]",
     .beats = {{"01_ranks", "sectors", 2.0,
                "neighbours load and store neighbours, and a search in global memory is for a whole tile",
                merging},
               // 2.93 times.
               {"01_ranks", "milliseconds", 1.6, "few searches reach global memory", merging}}},
    {.name = "03_merge_sort",
     .entry = "sort_elements",
     .traits = "[array]",
     .beats = {{"04_one_bit", "sectors", 2.5,
                "elements pass through memory once for each doubling of a tile, and not twice for each bit",
                sorting},
               // 1.29 times.
               {"04_one_bit", "milliseconds", 1.1, "there are fewer passes", sorting}}},
    {.name = "04_one_bit",
     .before = "03_merge_sort",
     .entry = "sort_elements",
     .traits = "[array]",
     // A scan of a block, as in the book, takes 33 times the passes of ballots, which take almost none.
     .allows = {{"shared_passes", 40}}},
    {.name = "05_digits",
     .before = "04_one_bit",
     .entry = "sort_elements",
     .traits = "[array]",
     .beats = {{"04_one_bit", "sectors", 2.5, "there are 8 passes instead of 32", sorting},
               // 2.63 times.
               {"04_one_bit", "milliseconds", 1.6, "there are 8 passes instead of 32", sorting}}},
    {.name = "06_warp_ranks",
     .before = "05_digits",
     .entry = "sort_elements",
     .traits = "[array]",
     .beats = {{"05_digits", "barriers", 2.0, "a tile is ranked at once, and not bit by bit",
                "not in the documents"},
               {"05_digits", "sectors", 1.15,
                "there are 4 passes instead of 8, and neighbours store to neighbours",
                "not in the documents"},
               // 1.39 times.
               {"05_digits", "milliseconds", 1.15, "there are 4 passes instead of 8",
                "not in the documents"}},
     // A match is one exchange of a warp, and eight ballots are eight.
     .allows = {{"exchanges", 10}}},
    {.name = "07_one_sweep",
     .before = "06_warp_ranks",
     .entry = "sort_elements",
     .traits = "[array][looks back]",
     .beats = {{"06_warp_ranks", "sectors", 1.35, "a pass reads each element once instead of twice",
                "not in the documents"},
               // 1.15 times.
               {"06_warp_ranks", "milliseconds", 1.04, "a pass reads each element once instead of twice",
                "not in the documents"}},
     // A match is one exchange of a warp, and eight ballots are eight.
     .allows = {{"exchanges", 10}}},
    {.name = "08_choice_of_match",
     .before = "07_one_sweep",
     .entry = "sort_elements",
     .traits = "[array][looks back]",
     .beats = {{"07_one_sweep", "barriers", 1.08, "tiles are larger, so there are fewer blocks",
                "not in the documents"},
               // 2.32 times.
               {"07_one_sweep", "milliseconds", 1.2, "equal digits are found in the way that suits the row",
                "not in the documents"}}},
};

/// Returns the step on n elements.
template <class T = std::uint32_t>
kata::Shape on(std::string_view name, std::size_t n, Keys keys = Keys::uniform) {
    return {name, [=](const Module& step) { return try_on(step, elements<T>(n, keys, 1, step)); }};
}

constexpr std::size_t base = 1 << 15;

/// The timed problem of a step: an array, or two lists with the same keys.
class Timed final : public kata::TimedProblem {
  public:
    explicit Timed(std::size_t n) : n_(n) { useful_bytes = 8.0 * static_cast<double>(n); }
    void run(const Module& step) override {
        auto& device = merges(step) ? lists_ : array_;
        if (!device) device.emplace(of(n_, merges(step)), kata::poison);
        device->run(step);
    }
    static Problem<std::uint32_t> of(std::size_t n, bool merged) {
        Problem<std::uint32_t> p{{}, merged ? n / 2 : 0};
        p.in.reserve(n);
        for (std::size_t i = 0; i < n; ++i)
            p.in.push_back(merged ? sort::element<std::uint32_t>(Keys::sorted, i % (n / 2), n / 2)
                                  : sort::element<std::uint32_t>(Keys::uniform, i, n));
        return p;
    }

  private:
    std::size_t n_;
    std::optional<Problem<std::uint32_t>::Device> lists_, array_;
};

std::size_t timed_length(std::optional<int> power_of_two) {
    return std::size_t{1} << power_of_two.value_or(28);
}

}  // namespace

static const kata::Chapter chapter{
    .name = "sort",
    .problem = "32768 keys of 32 bits; two lists of them in steps 01 and 02",
    .timed_problem = "2^28 keys of 32 bits; two lists of them in steps 01 and 02",
    .steps = steps,
    .ladder = [](const Module& step) { return try_on(step, elements(base, Keys::uniform, 1, step)); },
    .shapes = {on("base", base), on("ragged", 8'667), on<Pair>("pairs", 1 << 13, Keys::few),
               on<std::uint64_t>("keys of 64 bits", 1 << 12), on("equal", 1 << 12, Keys::equal)},
    .sketch = [](const Module& step) -> kata::Sketch {
        constexpr int n = 2048;
        return {try_on(step, elements(n, Keys::uniform, 1, step)),
                "2048 keys",
                "owners",
                {{"in", {n}}, {"out", {n}}}};
    },
    .timed = [](std::optional<int> power_of_two) -> std::unique_ptr<kata::TimedProblem> {
        return std::make_unique<Timed>(timed_length(power_of_two));
    },
    .at_scale =
        [](const Module& step, std::optional<int> power_of_two) {
            if (!merges(step))
                throw kata::Error(
                    "a pass sorts what the pass before it stored, and an estimate runs only "
                    "some of the blocks");
            // How many elements a thread compares depends on their keys.
            Problem<std::uint32_t>::Device device(Timed::of(timed_length(power_of_two), true), kata::zeros);
            device.run(step);
            return kata::AtScale{};
        },
    .columns = {"bytes_loaded", "bytes_stored", "sectors", "shared_passes", "basic_blocks", "barriers",
                "launches"},
};
const kata::Chapter& kata::chapter = ::chapter;
