// The cases of the sort chapter: two lists that are merged, and arrays that are sorted.
#include "sort.hpp"

#include "data.hpp"

#include <cstring>
#include <type_traits>

namespace {

using namespace kata::bench;
using sort::Keys;
using sort::Pair;

template <class T>
constexpr sort::Type type_of = std::is_same_v<T, Pair>              ? sort::Type::pairs
                               : sizeof(T) == sizeof(std::uint32_t) ? sort::Type::keys_of_32_bits
                                                                    : sort::Type::keys_of_64_bits;

/// Returns a hash of an element. If elements differ, the sums of their hashes differ with high probability.
template <class T>
std::uint64_t mark(T x) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof x);
    bits = (bits ^ bits >> 31) * 0x9e3779b97f4a7c15;
    return bits ^ bits >> 29;
}

template <class T>
class Sort final : public Problem {
  public:
    Sort(std::size_t n, Keys keys, bool merged, std::size_t copies)
        : n_(n),
          keys_(keys),
          merged_(merged),
          copies_(copies),
          in_("in", copies * stride_of(n)),
          out_("out", n, copies),
          workspace_("workspace", merged ? 0 : sort::workspace_bytes(n, sizeof(T)), copies) {
        renew();
    }
    void run(const kata::Module& module, std::size_t copy) override {
        const T* const in = in_.data() + copy * stride_of(n_);
        const int n = static_cast<int>(n_);
        if (merged_)
            module.function<decltype(merge_lists)>("merge_lists")(in, n / 2, in + n / 2, n - n / 2,
                                                                  out_.of(copy), type_of<T>);
        else
            module.function<decltype(sort_elements)>("sort_elements")(in, out_.of(copy), n,
                                                                      workspace_.of(copy), type_of<T>);
    }
    void renew() override {
        out_.renew();
        if (sum_ != 0) return;  // a step leaves its input alone
        std::vector<T> part;
        for (std::size_t first = 0; first < n_; first += part.size()) {
            part.resize(std::min(staged, n_ - first));
            for (std::size_t i = 0; i < part.size(); ++i) {
                // The second of two sorted lists has the same keys as the first one.
                const std::size_t at = merged_ ? (first + i) % (n_ / 2) : first + i;
                part[i] = sort::element<T>(keys_, at, n_);
                sum_ += mark(part[i]);
            }
            for (std::size_t copy = 0; copy < copies_; ++copy)
                kata::device::upload(in_.data() + copy * stride_of(n_) + first, part.data(),
                                     part.size() * sizeof(T));
        }
    }
    /// The keys must be in order, equal ones in the order of the input, and nothing lost.
    std::optional<std::string> fault(std::size_t copy) override {
        std::uint64_t sum = 0;
        T last{};
        auto found =
            out_.each(copy, [&](std::size_t first, const std::vector<T>& part) -> std::optional<std::string> {
                for (std::size_t i = 0; i < part.size(); ++i) {
                    if (first + i > 0 && !may_follow(part[i], last))
                        return "element " + std::to_string(first + i) + " is not behind the one before it";
                    last = part[i];
                    sum += mark(last);
                }
                return std::nullopt;
            });
        if (!found && sum != sum_) return "elements of the input are lost";
        return found;
    }

  private:
    static bool may_follow(T x, T before) {
        if constexpr (std::is_same_v<T, Pair>)
            return before.key < x.key || (before.key == x.key && before.value < x.value);
        else
            return before <= x;
    }
    std::size_t n_;
    Keys keys_;
    bool merged_;
    std::size_t copies_;
    kata::Buffer<T> in_;
    Outputs<T> out_;
    Outputs<unsigned char> workspace_;
    std::uint64_t sum_ = 0;
};

template <class T>
Case one(int exponent, const char* name, Keys keys = Keys::uniform, bool merged = false) {
    const std::size_t n = std::size_t{1} << exponent;
    return {.name = (merged ? "two lists, " : "") + power(exponent) + name,
            .entry = merged ? "merge_lists" : "sort_elements",
            .bytes = 2 * n * sizeof(T) + (merged ? 0 : sort::workspace_bytes(n, sizeof(T))),
            .useful_bytes = 2.0 * static_cast<double>(n * sizeof(T)),
            .operations = 0,
            .make = [=](std::size_t copies) { return std::make_unique<Sort<T>>(n, keys, merged, copies); }};
}

}  // namespace

const char* const kata::bench::chapter = "sort";

std::vector<kata::bench::Case> kata::bench::cases() {
    std::vector<Case> all;
    for (const int exponent : {20, 24, 28})
        all.push_back(one<std::uint32_t>(exponent, " keys of 32 bits", Keys::sorted, true));
    for (const int exponent : {20, 24, 28, 30})
        all.push_back(one<std::uint32_t>(exponent, " keys of 32 bits, uniform"));
    for (const int exponent : {24, 28}) {
        all.push_back(one<std::uint64_t>(exponent, " keys of 64 bits, uniform"));
        all.push_back(one<Pair>(exponent, " pairs, uniform"));
    }
    all.push_back(one<std::uint32_t>(28, " keys of 32 bits, sorted", Keys::sorted));
    all.push_back(one<std::uint32_t>(28, " keys of 32 bits, reversed", Keys::reversed));
    all.push_back(one<std::uint32_t>(28, " keys of 32 bits, few values", Keys::few));
    all.push_back(one<std::uint32_t>(28, " keys of 32 bits, skewed", Keys::skewed));
    all.push_back(one<std::uint32_t>(28, " keys of 32 bits, equal", Keys::equal));
    return all;
}
