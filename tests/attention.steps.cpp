// The attention chapter as data: the purpose of each step, and the problems on which it is counted.
#include "attention.problem.hpp"
#include "judge/suite.hpp"

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

using namespace attention::problem;
using attention::Factors;
using attention::Matrix;
using attention::Shape;

namespace {

constexpr auto refuted = kata::Claim::Standing::refuted;
constexpr std::string_view ours = "not in the documents";

// The sizes at which the counters are read.
constexpr Matrix matrix{64, 2048};
constexpr Shape shape{8, 128, 64};

const kata::Step steps[] = {
    {.name = "01_three_passes",
     .entry = "softmax",
     .traits = "[softmax]",
     // 1.18 times on an H200.
     .beats = {{"02_online", "milliseconds", 1.1, "a thread computes one exponential for each element",
                ours}},
     .figures = {{"base", "bytes_loaded", 12.0 * matrix.elements()}}},
    {.name = "02_online",
     .before = "01_three_passes",
     .entry = "softmax",
     .traits = "[softmax]",
     .beats = {{"01_three_passes", "bytes_loaded", 1.4, "a row is loaded twice instead of three times", ours},
               {"01_three_passes", "milliseconds", 1.1, "a row is loaded twice instead of three times",
                "Milakov and Gimelshein 2018", refuted}},
     // With 512 threads, twice as many warps read the results of twice as many.
     .allows = {{"shared_passes", 5}},
     .figures = {{"base", "bytes_loaded", 8.0 * matrix.elements()}}},
    {.name = "03_in_registers",
     .before = "02_online",
     .entry = "softmax",
     .traits = "[softmax]",
     .beats = {{"02_online", "bytes_loaded", 1.9, "a row is loaded once instead of twice", ours},
               // 1.32 times on an H200.
               {"02_online", "milliseconds", 1.1, "a row is loaded once instead of twice", ours}},
     // As in 02.
     .allows = {{"shared_passes", 5}},
     .figures = {{"base", "bytes_loaded", 4.0 * matrix.elements()}}},
    {.name = "04_three_kernels",
     .entry = "attend_with_scores",
     .traits = "[attention]",
     .figures = {{"base of heads", "bytes_loaded", 80.0 * shape.elements()},
                 {"base of heads", "bytes_stored", 20.0 * shape.elements()}}},
    {.name = "05_fused",
     .before = "04_three_kernels",
     .entry = "attend",
     .traits = "[attention]",
     .beats = {{"04_three_kernels", "bytes_loaded", 2.0,
                "scores and weights do not pass through global memory", ours},
               // 1.15 times on an H200.
               {"04_three_kernels", "milliseconds", 1.1,
                "scores and weights do not pass through global memory", ours}},
     // Where a thread has a query, its lanes are a row apart in Q and O, and a block has fewer threads.
     .allows = {{"lines", 12}, {"makespan", 6}},
     .figures = {{"base of heads", "bytes_loaded", 36.0 * shape.elements()},
                 {"base of heads", "bytes_stored", 4.0 * shape.elements()}}},
    {.name = "06_register_tiles",
     .before = "05_fused",
     .entry = "attend",
     .traits = "[attention]",
     .beats = {{"05_fused", "shared_accesses", 2.0,
                "what is read from shared memory serves several scores or elements of the result", ours},
               // 2.24 times on an H200.
               {"05_fused", "milliseconds", 1.3,
                "what is read from shared memory serves several scores or elements of the result", ours}},
     // Weights that pass by shuffles instead of shared memory take eight times the exchanges.
     .allows = {{"exchanges", 12}}},
    {.name = "07_causal_tiles",
     .before = "06_register_tiles",
     .entry = "attend",
     .traits = "[attention][causal]",
     .beats = {{"06_register_tiles", "sectors_loaded", 1.4,
                "tiles that no query of the block sees are left out", ours},
               // 1.82 times on an H200.
               {"06_register_tiles", "milliseconds", 1.5,
                "tiles that no query of the block sees are left out", ours}},
     .allows = {{"exchanges", 12}}},
    {.name = "08_tensor_cores",
     .before = "07_causal_tiles",
     .entry = "attend_bf16",
     .traits = "[attention][causal][bf16]",
     .beats = {{"07_causal_tiles", "basic_blocks", 2.0,
                "a warp multiplies 16 x 16 by 16 x 16 elements at a time, and no thread multiplies any",
                ours},
               {"07_causal_tiles", "bytes_loaded", 1.6, "an element has two bytes", ours},
               // 6.67 times on an H200.
               {"07_causal_tiles", "milliseconds", 3.0, "tensor cores multiply, at the precision of bfloat16",
                ours}},
     .figures = {{"base of heads", "bytes_loaded", 10.0 * shape.elements()},
                 {"base of heads", "bytes_stored", 4.0 * shape.elements()}}},
    {.name = "09_warpgroups",
     .before = "08_tensor_cores",
     .entry = "attend_bf16",
     .traits = "[attention][causal][bf16]",
     // 3.82 times on an H200: 508 TFLOP/s.
     .beats = {{"08_tensor_cores", "milliseconds", 2.5,
                "a warpgroup multiplies tiles where they lie, and scores and weights stay in registers",
                ours}}},
    {.name = "10_products_ahead",
     .before = "09_warpgroups",
     .entry = "attend_bf16",
     .traits = "[attention][causal][bf16]",
     // 1.18 times on an H200: 597 TFLOP/s.
     .beats = {{"09_warpgroups", "milliseconds", 1.1, "weights are computed while tensor cores multiply",
                ours}}},
};

/// Returns the step on a matrix.
kata::Shape on_rows(std::string_view name, const Matrix& m) {
    return {name, [m](const Module& step) { return try_on(step, rows(m)); }, "[softmax]"};
}
/// Returns the step on heads.
kata::Shape on(std::string_view name, const Shape& s, std::string_view traits = "[attention]") {
    return {name, [s](const Module& step) { return try_on(step, heads(s, 1, factors_of(step))); }, traits};
}

constexpr Matrix timed_matrix{1 << 14, 1 << 13};

Shape timed_shape(std::optional<int> n) { return {16, n.value_or(4096), 128, true}; }

/// The timed problem of a step: a matrix, or heads with n places.
class Timed final : public kata::TimedProblem {
  public:
    explicit Timed(const Shape& s) : shape_(s) {}
    void run(const Module& step) override {
        const auto numbers = [](std::size_t count, unsigned seed) {
            return kata::repeated(kata::reals(kata::prime_period, seed, -2.0f, 2.0f), count);
        };
        if (is_softmax(step)) {
            useful_bytes = 8.0 * static_cast<double>(timed_matrix.elements());
            if (!rows_) rows_.emplace(Rows{timed_matrix, numbers(timed_matrix.elements(), 1)}, kata::poison);
            rows_->run(step);
        } else {
            operations = attention::operations(shape_);
            const auto count = shape_.elements();
            const auto factors = factors_of(step);
            auto& heads = factors == Factors::bf16 ? narrow_ : heads_;
            if (!heads)
                heads.emplace(Heads{shape_, numbers(count, 1), numbers(count, 2), numbers(count, 3), factors},
                              kata::poison);
            heads->run(step);
        }
    }

  private:
    Shape shape_;
    std::optional<Rows::Device> rows_;
    std::optional<Heads::Device> heads_, narrow_;
};

}  // namespace

static const kata::Chapter chapter{
    .name = "attention",
    .problem = "a matrix of 64 x 2048 in steps 01 to 03; 8 heads of 128 places, d = 64, in the others",
    .timed_problem =
        "a matrix of 16384 x 8192 in steps 01 to 03; 16 heads of 4096 places, d = 128, causal, in the others",
    .steps = steps,
    .ladder =
        [](const Module& step) {
            return is_softmax(step) ? try_on(step, rows(matrix))
                                    : try_on(step, heads(shape, 1, factors_of(step)));
        },
    .shapes = {on_rows("base", matrix), on_rows("ragged rows", {50, 1333}), on_rows("short rows", {300, 40}),
               on("causal base", {4, 256, 64, true}, "[causal]"), on("base of heads", shape),
               on("ragged heads", {5, 75, 64}), on("wide heads", {4, 64, 128}),
               on("causal heads", {8, 96, 64, true}), on("one long head", {1, 200, 64})},
    .sketch = [](const Module& step) -> kata::Sketch {
        if (is_softmax(step))
            return {try_on(step, rows({4, 512})),
                    "a matrix of 4 x 512",
                    "owners",
                    {{"in", {4, 512}}, {"out", {4, 512}}}};
        return {try_on(step, heads({1, 64, 64}, 1, factors_of(step))),
                "a head of 64 places, d = 64",
                "owners",
                {{"Q", {64, 64}}, {"out", {64, 64}}}};
    },
    .timed = [](std::optional<int> n) -> std::unique_ptr<kata::TimedProblem> {
        return std::make_unique<Timed>(timed_shape(n));
    },
    .at_scale =
        [](const Module& step, std::optional<int> n) {
            const auto s = timed_shape(n);
            if (is_softmax(step))
                Rows::Device({timed_matrix, std::vector<float>(timed_matrix.elements())}, kata::zeros)
                    .run(step);
            else
                Heads::Device({s, std::vector<float>(s.elements()), std::vector<float>(s.elements()),
                               std::vector<float>(s.elements()), factors_of(step)},
                              kata::zeros)
                    .run(step);
            return kata::AtScale{.operations = is_softmax(step) ? 0 : attention::operations(s)};
        },
    .columns = {"bytes_loaded", "bytes_stored", "sectors", "shared_passes", "exchanges", "barriers",
                "launches"},
};
const kata::Chapter& kata::chapter = ::chapter;
