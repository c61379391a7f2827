// Arrays of benchmarks, in several copies side by side. They are too long to be kept on the host.
#pragma once
#include "bench/chapter.hpp"
#include "buffer.hpp"
#include "check/data.hpp"
#include "error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <sstream>
#include <utility>

namespace kata::bench {

inline constexpr std::size_t staged = std::size_t{1} << 24;  // elements on the host at a time

/// Small numbers whose sums are exact in float in any order: `count` elements sum up to 2^24 at most. With
/// more elements than that, most are 0. Longer arrays repeat them.
inline std::vector<int> addends(std::size_t count) {
    std::mt19937 engine(1);
    const double mean = 0x1p24 / static_cast<double>(count);
    const auto largest = static_cast<unsigned>(std::clamp(mean, 1.0, 15.0));
    // A little below the limit, because the places of the numbers are random.
    const double not_zero = std::min(1.0, 0.95 * mean / largest);
    std::vector<int> few(std::min(count, prime_period));
    double sum = 0;
    for (int& value : few) {
        const bool is_zero = static_cast<double>(engine()) >= not_zero * 0x1p32;
        value = is_zero ? 0 : static_cast<int>(1 + engine() % largest);
        sum += value;
    }
    if (sum * std::ceil(static_cast<double>(count) / static_cast<double>(few.size())) > 0x1p24)
        throw Error("the sum of the benchmark's data is not exact in float");
    return few;
}

inline std::size_t stride_of(std::size_t count) { return (count + 255) / 256 * 256; }

/// Several copies of an array of `count` elements, in which `few` repeats.
template <class T>
class Inputs {
  public:
    Inputs(const char* name, std::vector<T> few, std::size_t count, std::size_t copies)
        : few_(std::move(few)), count_(count), copies_(copies), all_(name, copies * stride_of(count)) {
        renew();
    }
    T* of(std::size_t copy) { return all_.data() + copy * stride_of(count_); }
    const T& operator[](std::size_t i) const { return few_[i % few_.size()]; }
    /// Returns a function that returns the next element at each call: for long arrays, where the division in
    /// operator[] would take most of the time.
    auto in_order() const {
        return [this, i = std::size_t{0}]() mutable {
            if (i == few_.size()) i = 0;
            return few_[i++];
        };
    }
    const std::vector<T>& few() const { return few_; }
    std::size_t size() const { return count_; }

    void renew() {
        const auto periods = std::max<std::size_t>(1, std::min(staged, count_) / few_.size());
        const auto chunk = repeated(few_, periods * few_.size());
        for (std::size_t copy = 0; copy < copies_; ++copy)
            for (std::size_t done = 0; done < count_; done += chunk.size())
                device::upload(of(copy) + done, chunk.data(),
                               std::min(chunk.size(), count_ - done) * sizeof(T));
    }

  private:
    std::vector<T> few_;
    std::size_t count_, copies_;
    Buffer<T> all_;
};

template <class T>
bool is_poison(T value) {
    T untouched;
    std::memset(&untouched, std::to_integer<int>(poison), sizeof untouched);
    return std::memcmp(&value, &untouched, sizeof value) == 0;
}

template <class T>
bool is_near(T value, double expected, double bound) {
    return std::abs(static_cast<double>(value) - expected) <= bound;  // NaN is within no bound
}

/// Returns what is wrong with an element that must be `expected` or, with a bound, within that bound of it.
template <class T>
std::optional<std::string> difference(std::size_t i, T value, double expected, double bound = 0) {
    if (is_near(value, expected, bound)) return std::nullopt;
    std::ostringstream text;
    text.precision(9);
    text << "element " << i << " is " << +value << ", expected " << expected;
    return text.str();
}

/// The output of kernels, in each of several copies.
template <class T>
class Outputs {
  public:
    Outputs(const char* name, std::size_t count, std::size_t copies)
        : name_(name), count_(count), copies_(copies) {
        renew();
    }
    T* of(std::size_t copy) { return all_->data() + copy * stride_of(count_); }

    /// Stores the poison again.
    void renew() {
        all_.reset();
        all_.emplace(name_, copies_ * stride_of(count_));
    }

    /// Calls look(first, elements) for each part in order, until it returns an error.
    std::optional<std::string> each(std::size_t copy, const auto& look) {
        std::vector<T> part(std::min(staged, count_));
        for (std::size_t first = 0; first < count_; first += part.size()) {
            part.resize(std::min(part.size(), count_ - first));
            device::download(part.data(), of(copy) + first, part.size() * sizeof(T));
            if (auto fault = look(first, std::as_const(part))) return fault;
        }
        return std::nullopt;
    }

    /// Returns what is wrong if each element must be within `bound` of expected(i), which is called in order.
    std::optional<std::string> difference_from(std::size_t copy, auto expected, double bound = 0) {
        return each(copy, [&](std::size_t first, const std::vector<T>& part) -> std::optional<std::string> {
            for (std::size_t i = 0; i < part.size(); ++i)
                if (const double value = expected(first + i); !is_near(part[i], value, bound))
                    return difference(first + i, part[i], value, bound);
            return std::nullopt;
        });
    }

  private:
    const char* name_;
    std::size_t count_, copies_;
    std::optional<Buffer<T>> all_;
};

/// Returns one element of each tile of `side` x `side` in an array of rows, in order. They are compared if
/// the array is too large to be computed entirely on the host. Each is chosen at random.
inline std::vector<std::size_t> sample(std::size_t width, std::size_t height, unsigned side) {
    std::mt19937 engine(7);
    const auto any = [&](std::size_t begin, std::size_t end) {
        return begin + engine() % std::min<std::size_t>(side, end - begin);
    };
    std::vector<std::size_t> chosen;
    for (std::size_t y = 0; y < height; y += side)
        for (std::size_t x = 0; x < width; x += side)
            chosen.push_back(any(y, height) * width + any(x, width));
    std::sort(chosen.begin(), chosen.end());
    return chosen;
}

/// Calls look(i, value) for the elements of the sample. An unwritten element is wrong anywhere.
template <class T>
std::optional<std::string> each_of(Outputs<T>& outputs, std::size_t copy,
                                   const std::vector<std::size_t>& chosen, const auto& look) {
    auto next = chosen.begin();
    return outputs.each(
        copy, [&](std::size_t first, const std::vector<T>& part) -> std::optional<std::string> {
            if constexpr (sizeof(T) > 1)  // any byte may be right
                if (const auto found = std::find_if(part.begin(), part.end(), is_poison<T>);
                    found != part.end())
                    return "element " +
                           std::to_string(first + static_cast<std::size_t>(found - part.begin())) +
                           " was not written";
            for (; next != chosen.end() && *next < first + part.size(); ++next)
                if (auto fault = look(*next, part[*next - first])) return fault;
            return std::nullopt;
        });
}

/// "2^28"
inline std::string power(int exponent) { return "2^" + std::to_string(exponent); }

}  // namespace kata::bench
