#include "check/miscount.hpp"

#include "check/data.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace kata {
namespace {

/// Neighbors that are counted alike, and wrong.
struct Stretch {
    std::size_t begin, end;
    double times;  // how often each is counted

    std::size_t length() const { return end - begin; }
    bool like(const Stretch& other) const { return length() == other.length() && times == other.times; }
};

/// Too many to be listed, but enough to show how they repeat.
constexpr std::size_t most_listed = 4;

/// A result must predict this many sums of other inputs.
constexpr unsigned foretold_sums = 3;

class Search {
  public:
    /// The seed of the inputs; the next ones are those of inputs whose sums must be predicted.
    Search(std::size_t inputs, std::size_t first, std::size_t last, const SumOf& sum_of,
           std::string_view noun, unsigned seed)
        : inputs_(inputs),
          first_(first),
          last_(last),
          sum_of_(sum_of),
          noun_(noun),
          seed_(seed),
          weights_(weights(seed)) {}

    /// True if other inputs have shown that the result is wrong or incomplete: a few inputs that count often
    /// may have the sum of many that count once.
    bool misled() const { return misled_; }

    std::optional<std::string> text() {
        const auto nothing = ask(0, 0);
        if (!nothing) return std::nullopt;
        if (*nothing != 0) return "even where no " + noun_ + " adds anything, the result is not 0";
        const auto all = ask(0, inputs_);
        if (!all) return std::nullopt;
        if (!look(0, inputs_, *all)) return std::nullopt;
        if (!full_) {
            misled_ = !foretold(found_);
            return misled_ || found_.empty() ? std::nullopt : std::optional(listed() + rest(found_));
        }
        if (const auto all_of_them = repeated(); all_of_them && foretold(*all_of_them))
            return repeating() + rest(*all_of_them);
        return seen_alone() ? std::optional(listed() + ", and there are more of them") : std::nullopt;
    }

  private:
    std::vector<int> weights(unsigned seed) const {
        const auto values = coded<unsigned>(inputs_, seed, most_indicated);
        return {values.begin(), values.end()};
    }

    /// Returns the sum if only elements from `begin` up to `end` are not 0.
    std::optional<double> ask(std::size_t begin, std::size_t end) const {
        std::vector<int> values(inputs_);
        std::copy(weights_.begin() + at(begin), weights_.begin() + at(end), values.begin() + at(begin));
        const auto sum = sum_of_(values);
        return sum && std::isfinite(*sum) ? sum : std::nullopt;
    }

    double weight(std::size_t begin, std::size_t end) const {
        double sum = 0;
        for (auto i = begin; i < end; ++i) sum += weights_[i];
        return sum;
    }
    std::size_t cut(std::size_t i) const { return std::clamp(i, first_, last_); }

    /// Finds the miscounted elements from `begin` up to `end`, whose sum is `sum`, from left to right, until
    /// there are more than can be listed. Returns false if the sum cannot be one of its inputs.
    bool look(std::size_t begin, std::size_t end, double sum) {
        if (begin == end || sum == weight(cut(begin), cut(end))) return true;
        const bool apart = end <= first_ || begin >= last_;
        const bool alike = apart || (begin >= first_ && end <= last_);
        const double times = sum / weight(begin, end);
        const Stretch all{begin, end, times};
        if (alike && times == std::floor(times) && times >= 0 && (end - begin == 1 || counts_so(all))) {
            add(all);
            return true;
        }
        if (end - begin == 1) return false;
        // Halves begin at multiples of their size, like blocks and warps.
        const auto middle = begin + std::bit_ceil(end - begin) / 2;
        const auto left = ask(begin, middle);
        if (!left) return false;
        if (!look(begin, middle, *left)) return false;
        return full_ || look(middle, end, sum - *left);
    }

    /// True if it is no coincidence: one of two elements that counts often may have the sum of a multiple of
    /// both.
    bool counts_so(const Stretch& s) const {
        if (s.times == 0) return true;
        auto values = weights(seed_ + 1);
        std::fill(values.begin(), values.begin() + at(s.begin), 0);
        std::fill(values.begin() + at(s.end), values.end(), 0);
        return sum_of_(values) == s.times * std::accumulate(values.begin(), values.end(), 0.0);
    }

    void add(const Stretch& s) {
        if (!found_.empty() && found_.back().end == s.begin && found_.back().times == s.times)
            found_.back().end = s.end;
        else if (found_.size() == most_listed)
            full_ = true;  // the last one in the list is complete
        else
            found_.push_back(s);
    }

    /// If the first one found repeats at a constant distance, returns all of them, to the last miscounted
    /// element.
    std::optional<std::vector<Stretch>> repeated() const {
        const auto period = found_[1].begin - found_[0].begin;
        for (std::size_t i = 1; i < found_.size(); ++i)
            if (!found_[i].like(found_[0]) || found_[i].begin - found_[i - 1].begin != period)
                return std::nullopt;
        const auto end = end_of_wrong();
        if (!end) return std::nullopt;
        std::vector<Stretch> all;
        for (auto begin = found_[0].begin; begin < *end; begin += period)
            all.push_back({begin, std::min(begin + found_[0].length(), *end), found_[0].times});
        return all;
    }

    /// Returns the end of the last miscounted element.
    std::optional<std::size_t> end_of_wrong() const {
        std::size_t begin = 0, end = inputs_;
        while (end - begin > 1) {
            const auto middle = begin + std::bit_ceil(end - begin) / 2;
            const auto right = ask(middle, end);
            if (!right) return std::nullopt;
            if (*right == weight(cut(middle), cut(end)))
                end = middle;
            else
                begin = middle;
        }
        return end;
    }

    /// True if these ranges predict the sums of other inputs. One sum alone may agree by chance.
    bool foretold(const std::vector<Stretch>& wrong) const {
        for (unsigned i = 1; i <= foretold_sums; ++i)
            if (!foretold(wrong, weights(seed_ + i))) return false;
        return true;
    }
    bool foretold(const std::vector<Stretch>& wrong, const std::vector<int>& values) const {
        double expected = 0;
        for (auto i = first_; i < last_; ++i) expected += values[i];
        for (const auto& s : wrong)
            for (auto i = s.begin; i < s.end; ++i)
                expected += (s.times - (i >= first_ && i < last_ ? 1 : 0)) * values[i];
        return sum_of_(values) == expected;
    }

    /// True if each one found is counted in the same way when all others are 0.
    bool seen_alone() const {
        return std::all_of(found_.begin(), found_.end(), [&](const Stretch& s) {
            return ask(s.begin, s.end) == s.times * weight(s.begin, s.end);
        });
    }

    std::string verdict(const Stretch& s) const {
        const bool one = s.length() == 1;
        if (s.times == 0) return one ? " is missing" : " are missing";
        const std::string counts = one ? " counts" : " count";
        if (s.end <= first_ || s.begin >= last_) return counts + " and should not";
        return counts + (s.times == 2 ? " twice" : " " + std::to_string(std::llround(s.times)) + " times");
    }

    std::string listed() const {
        std::string text;
        for (const auto& s : found_) {
            const bool one = s.length() == 1;
            text += (text.empty() ? "" : ", ") + noun_ + (one ? " " : "s ") + std::to_string(s.begin) +
                    (one ? "" : " to " + std::to_string(s.end - 1)) + verdict(s);
        }
        return text;
    }

    std::string repeating() const {
        const auto& s = found_[0];
        const auto period = std::to_string(found_[1].begin - s.begin);
        return "of every " + period + " " + noun_ + "s " +
               (s.length() == 1 ? "one" : std::to_string(s.length())) + verdict(s) + ", the first of them " +
               noun_ + " " + std::to_string(s.begin);
    }

    /// Describes the other elements, which count as they should.
    std::string rest(const std::vector<Stretch>& wrong) const {
        auto others = last_ - first_;
        for (const auto& s : wrong) others -= cut(s.end) - cut(s.begin);
        if (others == 0) return "";
        return others == 1 ? "; the other one counts once"
                           : "; the other " + std::to_string(others) + " count once";
    }

    static std::ptrdiff_t at(std::size_t i) { return static_cast<std::ptrdiff_t>(i); }

    std::size_t inputs_, first_, last_;
    const SumOf& sum_of_;
    std::string noun_;
    unsigned seed_;
    std::vector<int> weights_;
    std::vector<Stretch> found_;
    bool full_ = false, misled_ = false;
};

}  // namespace

std::optional<std::string> miscount(std::size_t inputs, std::size_t first, std::size_t last,
                                    const SumOf& sum_of, std::string_view noun) {
    for (unsigned seed = 1; seed <= 3 * (1 + foretold_sums); seed += 1 + foretold_sums) {
        Search search(inputs, first, last, sum_of, noun, seed);
        auto text = search.text();
        if (text || !search.misled()) return text;
    }
    return std::nullopt;
}

}  // namespace kata
