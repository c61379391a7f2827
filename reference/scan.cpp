#include "scan.hpp"

#include <climits>
#include <cmath>
#include <stdexcept>
#include <string>

namespace scan {

namespace {

/// Calls visit(i, sum) with the expected output i, for all i in order.
template <class Sum, class In, class Op, class Visit>
void walk(std::span<const In> in, int section, Kind kind, Sum identity, Op op, Visit visit) {
    Sum sum = identity;
    for (std::size_t i = 0; i < in.size(); ++i) {
        if (i % static_cast<std::size_t>(section) == 0) sum = identity;
        if (kind == Kind::exclusive) visit(i, sum);
        sum = op(sum, in[i]);
        if (kind == Kind::inclusive) visit(i, sum);
    }
}

}  // namespace

void check(const Shape& s) {
    if (s.elements < 0 || s.elements > max_elements)
        throw std::invalid_argument(std::to_string(s.elements) +
                                    " elements refused: the chapter takes 0 to " +
                                    std::to_string(max_elements));
    if (s.section < 32 || s.section > max_section || (s.section & (s.section - 1)) != 0)
        throw std::invalid_argument("sections of " + std::to_string(s.section) +
                                    " refused: the chapter takes powers of two from 32 to " +
                                    std::to_string(max_section));
}

std::vector<int> reference(std::span<const int> in, int section, Kind kind) {
    std::vector<int> out(in.size());
    walk(
        in, section, kind, 0LL, [](long long sum, int x) { return sum + x; },
        [&](std::size_t i, long long sum) {
            if (sum < INT_MIN || sum > INT_MAX)
                throw std::invalid_argument("the sum at element " + std::to_string(i) +
                                            " does not fit into an int");
            out[i] = static_cast<int>(sum);
        });
    return out;
}

std::vector<double> reference(std::span<const float> in, int section, Kind kind) {
    std::vector<double> out(in.size());
    walk(
        in, section, kind, 0.0, [](double sum, float x) { return sum + x; },
        [&](std::size_t i, double sum) { out[i] = sum; });
    return out;
}

std::vector<kata::Affine> reference(std::span<const kata::Affine> in, int section, Kind kind) {
    std::vector<kata::Affine> out(in.size());
    walk(
        in, section, kind, kata::Affine{1, 0},
        [](kata::Affine first, kata::Affine then) {
            return kata::Affine{then.a * first.a, then.a * first.b + then.b};
        },
        [&](std::size_t i, kata::Affine map) { out[i] = map; });
    return out;
}

std::vector<double> magnitude(std::span<const float> in, int section, Kind kind) {
    std::vector<double> out(in.size());
    const auto length = static_cast<std::size_t>(section);
    walk(
        in, section, kind, 0.0, [](double sum, float x) { return sum + std::abs(static_cast<double>(x)); },
        [&](std::size_t i, double sum) { out[i] = static_cast<double>(i % length + 1) * sum; });
    return out;
}

}  // namespace scan
