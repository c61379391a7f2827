// The cases of the histogram chapter: texts whose letters come up equally often, or do not.
#include "histogram.hpp"

#include "data.hpp"

namespace {

using namespace kata::bench;
using Text = std::vector<char>;

class Histogram final : public Problem {
  public:
    Histogram(Text few, std::size_t length, std::size_t copies)
        : text_("text", std::move(few), length, copies),
          histo_("histo", histogram::bins, copies),
          workspace_("workspace", histogram::workspace_size(length), copies) {}

    void run(const kata::Module& module, std::size_t copy) override {
        module.function<decltype(count_letters)>("count_letters")(text_.of(copy), text_.size(),
                                                                  histo_.of(copy), workspace_.of(copy));
    }
    void renew() override { histo_.renew(); }
    std::optional<std::string> fault(std::size_t copy) override {
        const std::span<const char> few = text_.few();
        const auto period = histogram::reference(few),
                   rest = histogram::reference(few.first(text_.size() % few.size()));
        const auto periods = static_cast<double>(text_.size() / few.size());
        return histo_.difference_from(copy,
                                      [&](std::size_t bin) { return periods * period[bin] + rest[bin]; });
    }

  private:
    Inputs<char> text_;
    Outputs<unsigned> histo_, workspace_;
};

Case one(int exponent, const char* kind, const std::function<char(unsigned random)>& letter) {
    const std::size_t length = std::size_t{1} << exponent;
    Text few(std::min(length, kata::prime_period));
    std::mt19937 engine(1);
    for (char& c : few) c = letter(engine());
    return {.name = power(exponent) + " letters, " + kind,
            .entry = "count_letters",
            .bytes = length + 4 * histogram::workspace_size(length) + 4096,
            .useful_bytes = static_cast<double>(length),
            .operations = 0,
            .floor = Floor::read,
            .make = [few, length](std::size_t copies) {
                return std::make_unique<Histogram>(few, length, copies);
            }};
}

char any(unsigned random) { return static_cast<char>('a' + random % histogram::letters); }
char mostly_e(unsigned random) { return random % 4 > 0 ? 'e' : any(random / 4); }

}  // namespace

const char* const kata::bench::chapter = "histogram";

std::vector<kata::bench::Case> kata::bench::cases() {
    std::vector<Case> all;
    for (const int exponent : {16, 20, 24, 28, 30}) all.push_back(one(exponent, "all equally often", any));
    all.push_back(one(28, "three in four the same", mostly_e));
    all.push_back(one(28, "all the same", [](unsigned) { return 'e'; }));
    return all;
}
