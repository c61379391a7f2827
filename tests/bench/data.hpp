// Arrays of benchmarks: so long that nobody keeps them on the host, in several copies side by side.
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

namespace kata::bench {

inline constexpr std::size_t staged = std::size_t{1} << 24;  // elements on the host at a time

/// Small numbers of which every sum is exact in float, in whatever order: with `count` elements they sum up
/// to 2^24 at most. Of more than that many most are 0. What is longer repeats them.
inline std::vector<int> addends(std::size_t count) {
    std::mt19937 engine(1);
    const double mean = 0x1p24 / static_cast<double>(count);
    const auto largest = static_cast<unsigned>(std::clamp(mean, 1.0, 15.0));
    // A little below what there is room for, as where a number stands is left to chance.
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

/// `count` elements, which are `few` over and over, in each of some copies.
template <class T>
class Inputs {
  public:
    Inputs(const char* name, std::vector<T> few, std::size_t count, std::size_t copies)
        : few_(std::move(few)), count_(count), copies_(copies), all_(name, copies * stride_of(count)) {
        renew();
    }
    T* of(std::size_t copy) { return all_.data() + copy * stride_of(count_); }
    const T& operator[](std::size_t i) const { return few_[i % few_.size()]; }
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

/// What kernels write, in each of some copies.
template <class T>
class Outputs {
  public:
    Outputs(const char* name, std::size_t count, std::size_t copies)
        : name_(name), count_(count), copies_(copies) {
        renew();
    }
    T* of(std::size_t copy) { return all_->data() + copy * stride_of(count_); }

    /// Poison again.
    void renew() {
        all_.reset();
        all_.emplace(name_, copies_ * stride_of(count_));
    }

    /// Calls look(i, value) for each element in order until it says what is wrong.
    std::optional<std::string> each(std::size_t copy, const auto& look) {
        std::vector<T> chunk(std::min(staged, count_));
        for (std::size_t first = 0; first < count_; first += chunk.size()) {
            chunk.resize(std::min(chunk.size(), count_ - first));
            device::download(chunk.data(), of(copy) + first, chunk.size() * sizeof(T));
            for (std::size_t i = 0; i < chunk.size(); ++i)
                if (auto fault = look(first + i, chunk[i])) return fault;
        }
        return std::nullopt;
    }

  private:
    const char* name_;
    std::size_t count_, copies_;
    std::optional<Buffer<T>> all_;
};

template <class T>
bool is_poison(T value) {
    T untouched;
    std::memset(&untouched, std::to_integer<int>(poison), sizeof untouched);
    return std::memcmp(&value, &untouched, sizeof value) == 0;
}

/// What is wrong with an element that is to be `expected`, or, with a bound, as near to it.
template <class T>
std::optional<std::string> difference(std::size_t i, T value, double expected, double bound = 0) {
    if (std::abs(static_cast<double>(value) - expected) <= bound) return std::nullopt;
    std::ostringstream text;
    text.precision(9);
    text << "element " << i << " is " << +value << ", expected " << expected;
    return text.str();
}

/// Of an array of rows that is too large to compute all of it on the host: whether an element is the one of
/// its tile of `side` x `side` that is compared. Which one is left to chance.
class Sample {
  public:
    Sample(std::size_t width, std::size_t height, unsigned side)
        : width_(width), side_(side), tiles_((width + side - 1) / side) {
        std::mt19937 engine(7);
        const auto any = [&](std::size_t begin, std::size_t end) {
            return begin + engine() % std::min<std::size_t>(side, end - begin);
        };
        for (std::size_t y = 0; y < height; y += side)
            for (std::size_t x = 0; x < width; x += side)
                chosen_.push_back(any(y, height) * width + any(x, width));
    }
    bool has(std::size_t i) const { return chosen_[i / width_ / side_ * tiles_ + i % width_ / side_] == i; }

  private:
    std::size_t width_, side_, tiles_;
    std::vector<std::size_t> chosen_;
};

/// Calls look(i, value) where the sample has i; what is nowhere written is wrong anywhere.
template <class T>
std::optional<std::string> each_of(Outputs<T>& outputs, std::size_t copy, const Sample& sample,
                                   const auto& look) {
    return outputs.each(copy, [&](std::size_t i, T value) -> std::optional<std::string> {
        if (sizeof(T) > 1 && is_poison(value)) return "element " + std::to_string(i) + " was not written";
        return sample.has(i) ? look(i, value) : std::nullopt;
    });
}

/// "2^28"
inline std::string power(int exponent) { return "2^" + std::to_string(exponent); }

}  // namespace kata::bench
