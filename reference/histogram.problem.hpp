// The problem of the histogram chapter as a step gets it: texts, their arrays on the device, and the expected
// results.
#pragma once
#include "check/data.hpp"
#include "histogram.hpp"
#include "judge/trial.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace histogram::problem {

using kata::Buffer;
using kata::Module;

using Text = std::vector<char>;

/// Some steps have a bin for each value of a byte, the others one for four letters.
inline std::size_t bins_of(const Module& step) {
    return static_cast<std::size_t>(step.has("count_bytes") ? histogram::values : bins);
}

inline std::vector<unsigned> reference(std::span<const char> text, std::size_t bins) {
    const auto as_vector = [](const auto& histo) { return std::vector(histo.begin(), histo.end()); };
    return bins == histogram::values ? as_vector(histogram::reference_of_bytes(text))
                                     : as_vector(histogram::reference(text));
}

inline void call(const Module& step, const char* text, std::size_t length, unsigned* histo,
                 unsigned* workspace) {
    if (bins_of(step) == histogram::values)
        step.function<decltype(count_bytes)>("count_bytes")(text, length, histo);
    else
        step.function<decltype(count_letters)>("count_letters")(text, length, histo, workspace);
}

inline char letter(int position) { return static_cast<char>('a' + position); }

/// Letters, all equally often.
inline Text letters(std::size_t length, unsigned seed = 1) {
    std::mt19937 engine(seed);
    Text text(length);
    for (char& c : text) c = letter(static_cast<int>(engine() % histogram::letters));
    return text;
}

/// Letters in three of four places, and any of the 256 bytes elsewhere.
inline Text mixed(std::size_t length, unsigned seed = 1) {
    std::mt19937 engine(seed);
    Text text(length);
    for (char& c : text)
        c = engine() % 4 != 0 ? letter(static_cast<int>(engine() % histogram::letters))
                              : static_cast<char>(engine() % 256);
    return text;
}

/// Runs of one letter, 1 to `longest` times.
inline Text runs(std::size_t length, unsigned longest, unsigned seed = 1) {
    std::mt19937 engine(seed);
    Text text;
    text.reserve(length);
    while (text.size() < length) {
        const std::size_t run = 1 + engine() % longest;
        text.insert(text.end(), std::min(run, length - text.size()),
                    letter(static_cast<int>(engine() % histogram::letters)));
    }
    return text;
}

/// Words as in English: its letters about as often, blanks, and a capital now and then.
inline Text words(std::size_t length, unsigned seed = 1) {
    // of 1000 letters, a to z
    std::vector<double> frequencies{82, 15, 28, 43, 127, 22, 20, 61, 70, 2,  8, 40, 24,
                                    67, 75, 19, 1,  60,  63, 91, 28, 10, 24, 2, 20, 1};
    std::mt19937 engine(seed);
    std::discrete_distribution<int> any(frequencies.begin(), frequencies.end());
    Text text;
    text.reserve(length + 16);
    while (text.size() < length) {
        const auto word = text.size();
        for (auto left = 2 + engine() % 7; left > 0; --left) text.push_back(letter(any(engine)));
        if (engine() % 12 == 0) text[word] = static_cast<char>(text[word] - 'a' + 'A');
        text.push_back(' ');
    }
    text.resize(length);
    return text;
}

/// A text for steps that aggregate: its longest runs have more letters than a grid has threads. Each solution
/// counts it in several blocks.
inline Text base_text() { return runs(16 * 32768, 320000, 2); }

/// Letters of one bin.
inline Text one_bin(std::size_t length) {
    std::mt19937 engine(1);
    Text text(length);
    for (char& c : text) c = letter(8 + static_cast<int>(engine() % 4));
    return text;
}

/// One letter, and blanks in half of the places, so that threads meet both, however the text is shared out.
inline Text with_blanks(std::size_t length) {
    std::mt19937 engine(1);
    Text text(length, 'k');
    for (char& c : text)
        if (engine() % 2 == 0) c = ' ';
    return text;
}

struct Problem {
    Text characters;
    std::size_t bins = bins_of(kata::step());

    std::string text() const { return "length = " + std::to_string(characters.size()); }
    /// Everything is counted for each character; there are only 7 bins.
    double outputs() const { return static_cast<double>(characters.size()); }
    /// An addition for each letter, or for each byte.
    double operations() const {
        const auto histo = reference(characters, bins);
        return std::accumulate(histo.begin(), histo.end(), 0.0);
    }
    kata::Expected expected() const {
        histogram::check(characters.size());
        const auto histo = reference(characters, bins);
        return {{histo.begin(), histo.end()}, {}, {{static_cast<int>(bins)}}};
    }
    /// A letter of bin b counts as b + 1, which distinguishes it from its neighbours, and a byte as its
    /// value.
    std::optional<std::string> made_of(const Module& step, const kata::Conditions& conditions,
                                       const std::vector<unsigned>& result) const {
        static_assert(histogram::bins == kata::most_indicated);
        if (characters.size() >= kata::too_large_to_ask) return std::nullopt;
        const std::size_t of_first_bin = bins == histogram::values ? 0 : 1;
        const auto sum_of = [&](const std::vector<int>& few) {
            Problem other{Text(few.size(), ' '), bins};
            for (std::size_t i = 0; i < few.size(); ++i)
                if (bins == histogram::values)
                    other.characters[i] = static_cast<char>(few[i]);
                else if (few[i] > 0)
                    other.characters[i] = letter((few[i] - 1) * histogram::letters_per_bin);
            return kata::asked(step, other, conditions, [&](const auto& histo) {
                double sum = 0;
                for (std::size_t bin = 0; bin < histo.size(); ++bin)
                    sum += static_cast<double>(bin + of_first_bin) * histo[bin];
                return sum;
            });
        };
        if (const auto text = kata::miscount(characters.size(), 0, characters.size(), sum_of, "character"))
            return "what the counts are made of: " + *text;
        const auto right = reference(characters, bins);
        const auto wrong = static_cast<std::size_t>(
            std::mismatch(result.begin(), result.end(), right.begin()).first - result.begin());
        if (wrong == result.size()) return std::nullopt;
        // `times` says how often each character occurs.
        const auto answer = [&](const std::vector<int>& times) -> std::optional<kata::Sums> {
            Problem other{{}, bins};
            for (std::size_t c = 0; c < times.size(); ++c)
                other.characters.insert(other.characters.end(), static_cast<std::size_t>(times[c]),
                                        static_cast<char>(c));
            const auto got =
                kata::asked(step, other, conditions, [&](const auto& histo) { return histo[wrong]; });
            const auto all = reference(other.characters, bins);
            return got ? std::optional(kata::Sums{*got, static_cast<double>(all[wrong])}) : std::nullopt;
        };
        const auto name = [](std::size_t c) {
            return c > ' ' && c < 127 ? "the character " + std::string(1, static_cast<char>(c))
                                      : "the character with code " + std::to_string(c);
        };
        if (const auto text = kata::displaced(histogram::values, answer, name))
            return "what bin " + std::to_string(wrong) + " is made of: " + *text;
        const auto all = [](const auto& counts) {
            return std::accumulate(counts.begin(), counts.end(), 0ull);
        };
        if (all(result) == all(right)) return std::nullopt;
        return "all counts together are " + std::to_string(all(result)) + ", and the text has " +
               std::to_string(all(right)) + (bins == histogram::values ? " characters" : " letters");
    }

    struct Device {
        kata::Input<char> text;
        Buffer<unsigned> histo, workspace;

        explicit Device(const Problem& p, std::byte poison)
            : text("text", p.characters),
              histo("histo", p.bins, poison),
              workspace("workspace", histogram::workspace_size(p.characters.size()), poison) {}
        void run(const Module& step) { call(step, text.data(), text.size(), histo.data(), workspace.data()); }
        auto damage() const { return kata::damage_of(text, histo, workspace); }
        const void* output() { return histo.data(); }
        auto result() const { return histo.values(); }
    };
};

/// A text whose first and last character are its only letters, of bins 0 and 1. All others are zeros. For a
/// step with a bin for them that bin is not compared, because most of its blocks need not run.
struct BothEnds {
    std::size_t length, all = bins_of(kata::step());
    Buffer<char> characters{"text", length, kata::zeros};
    Buffer<unsigned> histo{"histo", all},
        workspace{"workspace", histogram::workspace_size(length), kata::zeros};
    std::array<char, 2> ends{letter(0), letter(histogram::letters_per_bin)};

    explicit BothEnds(std::size_t n) : length(n) {
        characters.set(0, ends[0]);
        characters.set(length - 1, ends[1]);
    }
    std::string text() const { return "length = " + std::to_string(length); }
    std::size_t elements() const { return length; }
    void run(const Module& step) { call(step, characters.data(), length, histo.data(), workspace.data()); }
    std::optional<std::string> fault() {
        const auto expected = reference(ends, all);
        const auto first = static_cast<std::size_t>(all == histogram::values ? ends[0] : 0);
        const auto last = static_cast<std::size_t>(all == histogram::values ? ends[1] : 1);
        auto got = histo.values();
        if (all == histogram::values) got[0] = 0;
        if (got != expected)
            return "of " + std::to_string(length) +
                   " characters only the first and the last are letters, one of bin " +
                   std::to_string(first) + " and one of bin " + std::to_string(last) + ": the counts are " +
                   std::to_string(got[first]) + " and " + std::to_string(got[last]);
        return kata::damage_of(characters, histo, workspace);
    }
};

}  // namespace histogram::problem
