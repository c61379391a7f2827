// The problems of the grids chapter as a step gets them: vectors and pictures, their arrays on the device,
// and the expected results.
#pragma once
#include "check/data.hpp"
#include "grids.hpp"
#include "judge/trial.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace grids::problem {

using kata::Buffer;
using kata::Input;
using kata::Module;

using Bytes = std::vector<unsigned char>;

/// True if the step turns pictures gray. A step that takes neither colours nor vectors blurs pictures.
inline bool takes_colours(const Module& step) { return step.has("color_to_grayscale"); }
inline bool takes_vectors(const Module& step) { return step.has("vector_add"); }

inline void call(const Module& step, const float* a, const float* b, float* c, std::size_t n) {
    step.function<decltype(::vector_add)>("vector_add")(a, b, c, static_cast<int>(n));
}

/// A step that turns pictures gray ignores the blur size.
inline void call(const Module& step, const unsigned char* in, unsigned char* out, const Size& s,
                 int blur_size) {
    if (takes_colours(step))
        step.function<decltype(::color_to_grayscale)>("color_to_grayscale")(in, out, s.width, s.height);
    else
        step.function<decltype(::blur)>("blur")(in, out, s.width, s.height, blur_size);
}

struct Vectors {
    std::vector<float> a, b;

    std::string text() const { return "n = " + std::to_string(a.size()); }
    double outputs() const { return static_cast<double>(a.size()); }
    double operations() const { return outputs(); }
    kata::Expected expected() const { return {add(a, b), {}, {{static_cast<int>(a.size())}, {256}}}; }

    struct Device {
        Input<float> a, b;
        Buffer<float> c;

        Device(const Vectors& p, std::byte poison) : a("a", p.a), b("b", p.b), c("c", p.a.size(), poison) {}
        void run(const Module& step) { call(step, a.data(), b.data(), c.data(), c.size()); }
        auto damage() const { return kata::damage_of(a, b, c); }
        const void* output() { return c.data(); }
        auto result() const { return c.values(); }
    };
};

struct Picture {
    Size size;
    Bytes pixels;                       ///< three bytes each in a picture to turn gray
    std::optional<int> blur_size = {};  ///< none for a picture to turn gray
    Bytes* seen = nullptr;              ///< receives the result, unless null

    std::string text() const {
        return "width = " + std::to_string(size.width) + ", height = " + std::to_string(size.height) +
               (blur_size ? ", blur_size = " + std::to_string(*blur_size) : "");
    }
    double outputs() const { return size.pixels(); }
    double operations() const {
        const int side = 2 * blur_size.value_or(0) + 1;
        return outputs() * (blur_size ? side * side : 5);
    }
    kata::Expected expected() const {
        check(size, blur_size.value_or(0));
        kata::Expected e{{}, {}, {{size.width, size.height}, {16, 16}}};
        if (blur_size) {
            const auto blurred = grids::blur(pixels, size, *blur_size);
            e.values.assign(blurred.begin(), blurred.end());
            return e;
        }
        // Truncating a luminance to a byte takes off less than 1, and three products in float are off by less
        // than 1e-4.
        e.values = luminance(pixels);
        for (auto& value : e.values) value -= 0.5;
        e.bound.assign(e.values.size(), 0.5 + 1e-4);
        return e;
    }
    /// Returns the order of colours, or the width or divisor of a sum, that would have given this result;
    /// else which pixels count wrongly in its first wrong one.
    std::optional<std::string> made_of(const Module& step, const kata::Conditions& conditions,
                                       const Bytes& result) const {
        if (result.size() < 16 || result.size() >= kata::too_large_to_ask) return std::nullopt;
        constexpr const char* names[] = {"red", "green", "blue"};
        std::array<std::size_t, 3> order{0, 1, 2};
        while (!blur_size && std::next_permutation(order.begin(), order.end())) {
            Picture other = *this;
            for (std::size_t i = 0; i < pixels.size(); ++i)
                other.pixels[i - i % 3 + order[i % 3]] = pixels[i];
            if (!other.expected().difference(result, kata::poison))
                return std::string("it would be right if the bytes of a pixel were ") + names[order[0]] +
                       ", " + names[order[1]] + " and " + names[order[2]];
        }
        if (!blur_size) return std::nullopt;
        for (const int bits : {8, 16})
            if (is_of(result, [&](int sum, int count) { return sum % (1 << bits) / count; }))
                return "it would be right if a patch had its sum modulo " + std::to_string(1 << bits) +
                       ", as if that had been kept in " + std::to_string(bits) + " bits";
        const int side = 2 * *blur_size + 1;
        if (*blur_size > 0 && is_of(result, [&](int sum, int) { return sum / (side * side); }))
            return "the result is that of dividing each sum by " + std::to_string(side * side) +
                   ", also where the patch hangs over the edge and has fewer pixels";
        const auto right = grids::blur(pixels, size, *blur_size);
        const auto wrong = std::mismatch(result.begin(), result.end(), right.begin()).first - result.begin();
        if (wrong == static_cast<std::ptrdiff_t>(result.size())) return std::nullopt;
        const int count =
            patch(static_cast<int>(wrong) % size.width, static_cast<int>(wrong) / size.width).second;
        return kata::displaced_in(step, *this, &Picture::pixels, conditions, result, {}, count,
                                  std::min(kata::most_displaced, 255 / count));
    }
    /// Returns the sum of the pixels of a patch, and their number.
    std::pair<int, int> patch(int x, int y) const {
        int sum = 0, count = 0;
        for (int v = std::max(y - *blur_size, 0); v <= std::min(y + *blur_size, size.height - 1); ++v)
            for (int u = std::max(x - *blur_size, 0); u <= std::min(x + *blur_size, size.width - 1);
                 ++u, ++count)
                sum += pixels[static_cast<std::size_t>(v * size.width + u)];
        return {sum, count};
    }
    template <class MeanOf>
    bool is_of(const Bytes& result, const MeanOf& mean_of) const {
        for (int y = 0; y < size.height; ++y)
            for (int x = 0; x < size.width; ++x) {
                const auto [sum, count] = patch(x, y);
                if (result[static_cast<std::size_t>(y * size.width + x)] != mean_of(sum, count)) return false;
            }
        return true;
    }

    struct Device {
        Size size;
        int blur_size;
        Bytes* seen;
        Input<unsigned char> in;
        Buffer<unsigned char> out;

        Device(const Picture& p, std::byte poison)
            : size(p.size),
              blur_size(p.blur_size.value_or(0)),
              seen(p.seen),
              in(p.blur_size ? "in" : "rgb", p.pixels),
              out(p.blur_size ? "out" : "gray", static_cast<std::size_t>(size.pixels()), poison) {}
        void run(const Module& step) { call(step, in.data(), out.data(), size, blur_size); }
        auto damage() const { return kata::damage_of(in, out); }
        const void* output() { return out.data(); }
        Bytes result() const {
            auto values = out.values();
            if (seen) *seen = values;
            return values;
        }
    };
};

inline Bytes random_bytes(int count, unsigned seed) {
    return kata::coded<unsigned char>(static_cast<std::size_t>(count), seed, 255);
}

inline Vectors random_vectors(int n) {
    const auto size = static_cast<std::size_t>(n);
    return {kata::coded(size, 1), kata::coded(size, 2)};
}
inline Picture random_colours(const Size& s, unsigned seed = 1) {
    return {s, random_bytes(3 * s.pixels(), seed)};
}
inline Picture random_gray(const Size& s, int blur_size = 1, unsigned seed = 1) {
    return {s, random_bytes(s.pixels(), seed), blur_size};
}
/// A picture for the step: in colour to turn gray, or in gray to blur.
inline Picture random_picture(const Module& step, const Size& s, unsigned seed = 1) {
    return takes_colours(step) ? random_colours(s, seed) : random_gray(s, 1, seed);
}

/// A vector that is zero except at its ends and is added to itself. The CPU back end allocates only those of
/// its pages that something is written to.
struct LongVector {
    Buffer<float> a, c;

    explicit LongVector(std::size_t n) : a("a", n, kata::zeros), c("c", n, kata::zeros) {
        for (const auto i : {std::size_t{0}, n - 2, n - 1}) a.set(i, value_at(i));
    }
    std::string text() const { return "n = " + std::to_string(elements()); }
    std::size_t elements() const { return c.size(); }
    void run(const Module& step) { call(step, a.data(), a.data(), c.data(), c.size()); }
    std::optional<std::string> fault() const {
        const auto n = c.size();
        for (const auto i : {std::size_t{0}, n - 2, n - 1})
            if (c.element(i) != 2 * value_at(i))
                return "c[" + std::to_string(i) + "] of " + std::to_string(n) + " elements: expected " +
                       std::to_string(2 * value_at(i)) + ", got " + std::to_string(c.element(i));
        return kata::damage_of(a, c);
    }

  private:
    /// Differs between the ends, so that reading the wrong one gives another sum.
    static float value_at(std::size_t i) { return static_cast<float>(3 + i % 5); }
};

/// A row of pixels that are black except at its ends.
struct LongRow {
    int width;
    std::size_t channels = takes_colours(kata::step()) ? 3 : 1;
    Buffer<unsigned char> in{"in", channels*pixels(), kata::zeros}, out{"out", pixels(), kata::zeros};

    explicit LongRow(int w) : width(w) {
        for (std::size_t byte = 0; byte < channels; ++byte)
            for (const std::size_t pixel : {std::size_t{0}, pixels() - 1})
                in.set(channels * pixel + byte, 240);
    }
    std::size_t pixels() const { return static_cast<std::size_t>(width); }
    void run(const Module& step) { call(step, in.data(), out.data(), {width, 1}, 1); }
    std::optional<std::string> fault() const {
        // A luminance of 240 may come out as 239. A blurred pixel is the mean of two pixels at the ends, and
        // of three elsewhere.
        const bool gray = channels == 3;
        for (const int x : {0, 1, width - 2, width - 1}) {
            const bool end = x == 0 || x == width - 1;
            const int expected = gray ? (end ? 240 : 0) : (end ? 120 : 80);
            const int got = out.element(static_cast<std::size_t>(x));
            if (got != expected && !(gray && end && got == 239))
                return "pixel " + std::to_string(x) + " of a row of " + std::to_string(width) +
                       ": expected " + std::to_string(expected) + ", got " + std::to_string(got);
        }
        return kata::damage_of(in, out);
    }
};

}  // namespace grids::problem
