#include "check/miscount.hpp"

#include "check/data.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace kata {
namespace {

/// Neighboring inputs that count wrongly in the same way.
struct Stretch {
    std::size_t begin, end;
    double got, expected;  // how often each input counts, and how often it should

    std::size_t length() const { return end - begin; }
    bool counts_like(const Stretch& s) const { return got == s.got && expected == s.expected; }
};

/// Too many to be listed, but enough to show how they repeat.
constexpr std::size_t most_listed = 4;
/// Inputs that count wrongly in the same way may be more numerous.
constexpr std::size_t most_alike = 16;

/// A result must predict this many sums of other inputs.
constexpr unsigned foretold_sums = 3;

bool is_count(double times) { return times >= 0 && times == std::floor(times); }

/// Finds the inputs that count wrongly, from left to right, by halving. Stops after `most`.
class Search {
  public:
    /// Seeds after `seed` make the inputs whose sums must be predicted.
    Search(std::size_t inputs, const SumsOf& answer, unsigned seed, int largest, std::size_t most)
        : inputs_(inputs),
          answer_(answer),
          seed_(seed),
          largest_(largest),
          most_(most),
          weights_(weights(seed)) {
        const auto all = ask(0, inputs);
        done_ = all && look(0, inputs, *all);
        if (done_ && !full_) misled_ = !foretold(found_);
    }

    const std::vector<Stretch>& found() const { return found_; }
    bool full() const { return full_; }
    /// True if the results are sums, and the inputs found explain all errors.
    bool explains() const { return done_ && !full_ && !misled_; }
    /// True if the results are sums, but there are more wrong inputs than may be found.
    bool has_first_ones() const { return done_ && full_; }
    /// True if other inputs have shown that the result is wrong or incomplete: a few inputs that count often
    /// may have the sum of many that count once, and two of the same value may take each other's place.
    bool misled() const { return misled_; }

    /// Returns the end of the last input that counts wrongly.
    std::optional<std::size_t> end_of_wrong() const {
        std::size_t begin = 0, end = inputs_;
        while (end - begin > 1) {
            const auto middle = begin + std::bit_ceil(end - begin) / 2;
            const auto right = ask(middle, end);
            if (!right) return std::nullopt;
            (right->got == right->expected ? end : begin) = middle;
        }
        return end;
    }

    /// True if these stretches predict the sums of other inputs. One sum alone may agree by chance.
    bool foretold(const std::vector<Stretch>& wrong) const {
        for (unsigned i = 1; i <= foretold_sums; ++i) {
            const auto values = weights(seed_ + i);
            const auto sums = answer_(values);
            if (!sums) return false;
            double sum = sums->expected;
            for (const auto& s : wrong)
                for (auto at = s.begin; at < s.end; ++at) sum += (s.got - s.expected) * values[at];
            if (sums->got != sum) return false;
        }
        return true;
    }

    /// True if each one found counts in the same way when all others are 0.
    bool seen_alone() const {
        return std::all_of(found_.begin(), found_.end(), [&](const Stretch& s) {
            const auto sums = ask(s.begin, s.end);
            return sums && sums->got == s.got * weight(s.begin, s.end);
        });
    }

  private:
    std::vector<int> weights(unsigned seed) const {
        const auto values = coded<unsigned>(inputs_, seed, largest_);
        return {values.begin(), values.end()};
    }

    /// Returns the sums if only inputs from `begin` up to `end` are not 0.
    std::optional<Sums> ask(std::size_t begin, std::size_t end) const { return ask(begin, end, weights_); }
    std::optional<Sums> ask(std::size_t begin, std::size_t end, const std::vector<int>& weights) const {
        std::vector<int> values(inputs_);
        std::copy(weights.begin() + at(begin), weights.begin() + at(end), values.begin() + at(begin));
        const auto sums = answer_(values);
        return sums && std::isfinite(sums->got) ? sums : std::nullopt;
    }

    double weight(std::size_t begin, std::size_t end) const {
        return std::accumulate(weights_.begin() + at(begin), weights_.begin() + at(end), 0.0);
    }

    /// Finds the inputs from `begin` up to `end`, whose sums are `sums`. Returns false if there are no sums.
    bool look(std::size_t begin, std::size_t end, const Sums& sums) {
        if (begin == end || sums.got == sums.expected) return true;
        const auto all = weight(begin, end);
        const Stretch whole{begin, end, sums.got / all, sums.expected / all};
        if (end - begin == 1 || are_alike(whole)) {
            add(whole);
            return true;
        }
        // Halves begin at multiples of their size, like blocks and warps.
        const auto middle = begin + std::bit_ceil(end - begin) / 2;
        const auto left = ask(begin, middle);
        if (!left || !look(begin, middle, *left)) return false;
        return full_ || look(middle, end, {sums.got - left->got, sums.expected - left->expected});
    }

    /// True if each input of the stretch counts as all do together, and it is no coincidence: one of two
    /// inputs that counts often may have the sum of a multiple of both.
    bool are_alike(const Stretch& s) const {
        if (!is_count(s.got) || !is_count(s.expected)) return false;
        if (s.got == 0) return true;
        const auto others = weights(seed_ + 1);
        const auto sums = ask(s.begin, s.end, others);
        const auto all = std::accumulate(others.begin() + at(s.begin), others.begin() + at(s.end), 0.0);
        return sums && sums->got == s.got * all && sums->expected == s.expected * all;
    }

    void add(const Stretch& s) {
        if (!found_.empty() && found_.back().end == s.begin && found_.back().counts_like(s))
            found_.back().end = s.end;
        else if (found_.size() == most_)
            full_ = true;  // the last one in the list is complete
        else
            found_.push_back(s);
    }

    static std::ptrdiff_t at(std::size_t i) { return static_cast<std::ptrdiff_t>(i); }

    std::size_t inputs_;
    const SumsOf& answer_;
    unsigned seed_;
    int largest_;
    std::size_t most_;
    std::vector<int> weights_;
    std::vector<Stretch> found_;
    bool done_ = false, full_ = false, misled_ = false;
};

/// Returns text_of(search). A search that was misled is repeated with other inputs.
template <class TextOf>
std::optional<std::string> searched(std::size_t inputs, const SumsOf& answer, int largest, std::size_t most,
                                    const TextOf& text_of) {
    for (unsigned seed = 1; seed <= 3 * (1 + foretold_sums); seed += 1 + foretold_sums) {
        const Search search(inputs, answer, seed, largest, most);
        if (!search.misled()) return text_of(search);
    }
    return std::nullopt;
}

/// Describes the elements of a plain sum, each of which must count once or not at all.
class Miscounted {
  public:
    Miscounted(const Search& search, std::size_t elements, std::string_view noun)
        : search_(search), found_(search.found()), elements_(elements), noun_(noun) {}

    std::optional<std::string> text() const {
        if (!std::all_of(found_.begin(), found_.end(), [](const Stretch& s) { return is_count(s.got); }))
            return std::nullopt;
        if (search_.explains() && !found_.empty()) return listed() + rest(found_);
        if (!search_.has_first_ones()) return std::nullopt;
        if (const auto all = repeated(); all && search_.foretold(*all)) return repeating() + rest(*all);
        return search_.seen_alone() ? std::optional(listed() + ", and there are more of them") : std::nullopt;
    }

  private:
    /// If the first one found repeats at a constant distance, returns all of them, to the last miscounted
    /// element.
    std::optional<std::vector<Stretch>> repeated() const {
        const auto& first = found_[0];
        const auto period = found_[1].begin - first.begin;
        for (std::size_t i = 1; i < found_.size(); ++i)
            if (!found_[i].counts_like(first) || found_[i].length() != first.length() ||
                found_[i].begin - found_[i - 1].begin != period)
                return std::nullopt;
        const auto end = search_.end_of_wrong();
        if (!end) return std::nullopt;
        std::vector<Stretch> all;
        for (auto begin = first.begin; begin < *end; begin += period)
            all.push_back({begin, std::min(begin + first.length(), *end), first.got, first.expected});
        return all;
    }

    static std::string verdict(const Stretch& s) {
        const bool one = s.length() == 1;
        if (s.got == 0) return one ? " is missing" : " are missing";
        const std::string counts = one ? " counts" : " count";
        if (s.expected == 0) return counts + " and should not";
        return counts + (s.got == 2 ? " twice" : " " + std::to_string(std::llround(s.got)) + " times");
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
        auto others = elements_;
        for (const auto& s : wrong)
            if (s.expected == 1) others -= s.length();
        if (others == 0) return "";
        return others == 1 ? "; the other one counts once"
                           : "; the other " + std::to_string(others) + " count once";
    }

    const Search& search_;
    const std::vector<Stretch>& found_;
    std::size_t elements_;
    std::string noun_;
};

std::string weight_text(double value) {
    auto text = std::to_string(value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
}

/// Describes one input, or two that belong together.
struct Displacement {
    enum class Kind { exchanged, in_place, missing, beside, other } kind;
    std::size_t input, partner;  // equal to `input` if there is none
    double got = 0, expected = 0;

    std::ptrdiff_t distance() const {
        return static_cast<std::ptrdiff_t>(partner) - static_cast<std::ptrdiff_t>(input);
    }
    bool is_like(const Displacement& d) const {
        return kind == d.kind && kind != Kind::other &&
               (kind != Kind::in_place || distance() == d.distance());
    }
    std::string text(const std::function<std::string(std::size_t)>& name) const {
        switch (kind) {
            case Kind::exchanged:
                return name(input) + " and " + name(partner) + " have each other's weights";
            case Kind::in_place:
                return name(input) + " counts in place of " + name(partner);
            case Kind::missing:
                return name(input) + " is missing";
            case Kind::beside:
                return name(input) + " counts and should not";
            case Kind::other:
                break;
        }
        return name(input) + " counts times " + weight_text(got) + " instead of " + weight_text(expected);
    }
};

/// Pairs inputs if the excess of one is what the other one lacks.
std::vector<Displacement> paired(const std::vector<Stretch>& found) {
    std::vector<Stretch> odd;
    for (const auto& s : found)
        for (auto i = s.begin; i < s.end && odd.size() <= most_alike; ++i)
            odd.push_back({i, i + 1, s.got, s.expected});
    std::vector<Displacement> all;
    if (odd.size() > most_alike) return all;
    using Kind = Displacement::Kind;
    while (!odd.empty()) {
        const auto one = odd.front();
        odd.erase(odd.begin());
        const auto take = [&](auto is_partner) {
            const auto found = std::find_if(odd.begin(), odd.end(), is_partner);
            const auto partner = found == odd.end() ? std::nullopt : std::optional(*found);
            if (partner) odd.erase(found);
            return partner;
        };
        const bool missing = one.got == 0;
        if (const auto other = take([&](const Stretch& o) {
                return o.got - o.expected == one.expected - one.got && missing != (o.got == 0);
            }))
            all.push_back(
                {Kind::in_place, missing ? other->begin : one.begin, missing ? one.begin : other->begin});
        else if (const auto other =
                     take([&](const Stretch& o) { return o.got == one.expected && o.expected == one.got; }))
            all.push_back({Kind::exchanged, one.begin, other->begin});
        else
            all.push_back({missing             ? Kind::missing
                           : one.expected == 0 ? Kind::beside
                                               : Kind::other,
                           one.begin, one.begin, one.got, one.expected});
    }
    return all;
}

/// Lists a few, names the first and the last of many that are alike, or else the first ones.
std::optional<std::string> text_of(const std::vector<Displacement>& all,
                                   const std::function<std::string(std::size_t)>& name) {
    const auto& first = all.front();
    std::string text = first.text(name);
    const bool alike = std::all_of(all.begin(), all.end(), [&](const auto& d) { return d.is_like(first); });
    if (all.size() <= most_listed || !alike) {
        const auto listed = all.size() <= most_listed ? all.size() : most_listed - 1;
        for (std::size_t i = 1; i < listed; ++i) text += ", " + all[i].text(name);
        return text + (listed < all.size() ? ", and " + std::to_string(all.size() - listed) +
                                                 " more do not count as they should"
                                           : "");
    }
    using Kind = Displacement::Kind;
    return text + "; the same is true of " + std::to_string(all.size() - 1) + " more" +
           (first.kind == Kind::exchanged  ? " pairs, the last of them that of "
            : first.kind == Kind::in_place ? ", each just as far off, the last of them "
                                           : ", the last of them ") +
           name(all.back().input);
}

}  // namespace

std::optional<std::string> miscount(std::size_t inputs, std::size_t first, std::size_t last,
                                    const SumOf& sum_of, std::string_view noun) {
    const auto answer = [&](const std::vector<int>& values) -> std::optional<Sums> {
        const auto sum = sum_of(values);
        const auto at = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
        return sum ? std::optional(Sums{
                         *sum, std::accumulate(values.begin() + at(first), values.begin() + at(last), 0.0)})
                   : std::nullopt;
    };
    const auto nothing = answer(std::vector<int>(inputs));
    if (!nothing || !std::isfinite(nothing->got)) return std::nullopt;
    if (nothing->got != 0)
        return "even where no " + std::string(noun) + " adds anything, the result is not 0";
    if (auto text = searched(inputs, answer, most_indicated, most_listed, [&](const Search& search) {
            return Miscounted(search, last - first, noun).text();
        }))
        return text;
    for (const auto alone : {first, last - 1}) {  // the step computes no sum, and perhaps shows it here
        if (alone >= last) break;
        std::vector<int> values(inputs);
        values[alone] = 1;
        if (const auto sums = answer(values); sums && std::isfinite(sums->got) && sums->got != 1)
            return "where " + std::string(noun) + " " + std::to_string(alone) +
                   " alone adds 1, and all others nothing, the result is " + weight_text(sums->got);
    }
    return std::nullopt;
}

std::optional<std::string> displaced(std::size_t inputs, const SumsOf& answer,
                                     const std::function<std::string(std::size_t)>& name, int largest) {
    const auto nothing = answer(std::vector<int>(inputs));
    if (!nothing || nothing->got != 0 || nothing->expected != 0) return std::nullopt;
    return searched(inputs, answer, largest, most_alike,
                    [&](const Search& search) -> std::optional<std::string> {
                        if (!search.explains()) return std::nullopt;
                        const auto all = paired(search.found());
                        return all.empty() ? std::nullopt : text_of(all, name);
                    });
}

}  // namespace kata
