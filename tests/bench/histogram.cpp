// The cases of the histogram chapter: texts with equally frequent letters, with unequal ones, and in English;
// and the same for bytes, which have 256 bins.
#include "histogram.hpp"

#include "data.hpp"

#include <bit>
#include <string_view>

namespace {

using namespace kata::bench;
using Text = std::vector<char>;

enum class Counted { letters, bytes };

class Histogram final : public Problem {
  public:
    Histogram(Counted counted, Text few, std::size_t length, std::size_t copies)
        : counted_(counted),
          text_("text", std::move(few), length, copies),
          histo_("histo", counted == Counted::letters ? histogram::bins : histogram::values, copies),
          workspace_("workspace", workspace_size(counted, length), copies) {}

    void run(const kata::Module& module, std::size_t copy) override {
        if (counted_ == Counted::letters)
            module.function<decltype(count_letters)>(entry(counted_))(text_.of(copy), text_.size(),
                                                                      histo_.of(copy), workspace_.of(copy));
        else
            module.function<decltype(count_bytes)>(entry(counted_))(text_.of(copy), text_.size(),
                                                                    histo_.of(copy));
    }
    void renew() override { histo_.renew(); }
    std::optional<std::string> fault(std::size_t copy) override {
        return counted_ == Counted::letters ? difference_from(copy, histogram::reference)
                                            : difference_from(copy, histogram::reference_of_bytes);
    }

    static const char* entry(Counted counted) {
        return counted == Counted::letters ? "count_letters" : "count_bytes";
    }
    static std::size_t workspace_size(Counted counted, std::size_t length) {
        return counted == Counted::letters ? histogram::workspace_size(length) : 0;
    }

  private:
    std::optional<std::string> difference_from(std::size_t copy, auto reference) {
        const std::span<const char> few = text_.few();
        const auto period = reference(few), rest = reference(few.first(text_.size() % few.size()));
        const auto periods = static_cast<double>(text_.size() / few.size());
        return histo_.difference_from(copy,
                                      [&](std::size_t bin) { return periods * period[bin] + rest[bin]; });
    }

    Counted counted_;
    Inputs<char> text_;
    Outputs<unsigned> histo_, workspace_;
};

std::size_t length_of(int exponent) { return std::size_t{1} << exponent; }

Case one(Counted counted, int exponent, const char* kind, const Text& few) {
    const std::size_t length = length_of(exponent);
    return {.name = power(exponent) + (counted == Counted::letters ? " letters, " : " bytes, ") + kind,
            .entry = Histogram::entry(counted),
            .bytes = length + 4 * Histogram::workspace_size(counted, length) + 4096,
            .useful_bytes = static_cast<double>(length),
            .operations = 0,
            .floor = Floor::read,
            .make = [=](std::size_t copies) {
                return std::make_unique<Histogram>(counted, few, length, copies);
            }};
}

/// Independent random characters.
Case one(Counted counted, int exponent, const char* kind,
         const std::function<char(unsigned random)>& character) {
    Text few(std::min(length_of(exponent), kata::prime_period));
    std::mt19937 engine(1);
    for (char& c : few) c = character(engine());
    return one(counted, exponent, kind, few);
}

/// Words in random order: the frequency of letters, the letters that follow each other and the share of other
/// characters are those of the sentences.
Text english() {
    constexpr std::string_view sentences =
        "A histogram counts how often each value occurs. When many threads meet on the same counter, each "
        "of them has to wait until the one before it is done, and what was meant to run at once runs in "
        "turn. Private counters, one set for every block or even for every lane of a warp, keep them apart; "
        "the sums are added up in the end. How much that gains depends on the text: letters are not equally "
        "frequent in any language, an E is to be found in most words, and a J, a Q or a Z in few. Between "
        "the words there are spaces, commas and full stops, which no bin counts, but which have to be read "
        "like all the rest. ";
    std::vector<std::string_view> words;
    for (std::size_t begin = 0; begin < sentences.size();) {
        const auto end = sentences.find(' ', begin) + 1;
        words.push_back(sentences.substr(begin, end - begin));
        begin = end;
    }
    Text text;
    std::mt19937 engine(1);
    while (text.size() < kata::prime_period) {
        const auto word = words[engine() % words.size()];
        text.insert(text.end(), word.begin(), word.end());
    }
    text.resize(kata::prime_period);
    return text;
}

char any_letter(unsigned random) { return static_cast<char>('a' + random % histogram::letters); }
char mostly_e(unsigned random) { return random % 4 > 0 ? 'e' : any_letter(random / 4); }
char only_e(unsigned) { return 'e'; }

char any_byte(unsigned random) { return static_cast<char>(random % histogram::values); }
/// 0 half of the time, 1 a quarter of it, and so on.
char halved(unsigned random) { return static_cast<char>(std::countr_zero(random)); }

}  // namespace

const char* const kata::bench::chapter = "histogram";

std::vector<kata::bench::Case> kata::bench::cases() {
    std::vector<Case> all;
    for (const int exponent : {16, 20, 24, 28, 30})
        all.push_back(one(Counted::letters, exponent, "all equally often", any_letter));
    all.push_back(one(Counted::letters, 28, "three in four the same", mostly_e));
    all.push_back(one(Counted::letters, 28, "all the same", only_e));
    all.push_back(one(Counted::letters, 28, "words of English", english()));
    for (const int exponent : {16, 20, 24, 28, 30})
        all.push_back(one(Counted::bytes, exponent, "all equally often", any_byte));
    all.push_back(one(Counted::bytes, 28, "each half as often as the one before", halved));
    all.push_back(one(Counted::bytes, 28, "all the same", only_e));
    all.push_back(one(Counted::bytes, 28, "words of English", english()));
    return all;
}
