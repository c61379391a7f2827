#include "simt/snapshot.hpp"

#include "simt/memory.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <string_view>

namespace simt {

namespace {

constexpr std::size_t most_bytes_of_piece = 1 << 16;

/// Calls `work` with memory, a piece at a time.
void in_pieces(const Range& r, const std::function<void(std::span<std::byte>)>& work) {
    for (std::span rest(reinterpret_cast<std::byte*>(r.begin), r.size()); !rest.empty();) {
        const auto piece = rest.first(std::min(rest.size(), most_bytes_of_piece));
        work(piece);
        rest = rest.subspan(piece.size());
    }
}

/// Not std::copy under AddressSanitizer, which checks it and guards the gaps between variables.
#if defined(__SANITIZE_ADDRESS__)
[[gnu::no_sanitize_address]] void copy(const volatile std::byte* from, std::size_t bytes,
                                       volatile std::byte* to) {
    for (std::size_t i = 0; i < bytes; ++i) to[i] = from[i];
}
#else
void copy(const std::byte* from, std::size_t bytes, std::byte* to) { std::copy(from, from + bytes, to); }
#endif

/// Returns the contents of a piece where AddressSanitizer allows reads; valid until the next call.
std::span<const std::byte> contents(std::span<std::byte> piece) {
#if defined(__SANITIZE_ADDRESS__)
    static std::array<std::byte, most_bytes_of_piece> copied;
    copy(piece.data(), piece.size(), copied.data());
    return std::span(copied).first(piece.size());
#else
    return piece;
#endif
}

bool is_zero(std::span<const std::byte> bytes) {
    return bytes.front() == std::byte{} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

}  // namespace

Snapshot::Snapshot(const Range& variables, bool buffers) {
    add(variables);
    if (buffers)
        for (const auto& a : allocations()) add(a.range);
}

void Snapshot::add(const Range& r) {
    in_pieces(r, [this](std::span<std::byte> piece) {
        pieces_.push_back({piece, {}});
        const auto now = contents(piece);
        if (!is_zero(now)) pieces_.back().bytes.assign(now.begin(), now.end());
    });
}

void Snapshot::restore() const {
    for_each_change(
        [](std::byte* now, std::span<const std::byte> then) { copy(then.data(), then.size(), now); });
}

void Snapshot::for_each_change(const Work& work) const {
    static const std::array<std::byte, most_bytes_of_piece> zeros{};
    for (const auto& [memory, bytes] : pieces_) {
        const auto now = contents(memory);
        const auto then = bytes.empty() ? std::span(zeros).first(memory.size()) : std::span(bytes);
        if (std::memcmp(now.data(), then.data(), now.size()) == 0) continue;
        for (std::size_t begin = 0, end = 0; begin < now.size(); begin = end) {
            const auto is_change = now[begin] != then[begin];
            for (end = begin + 1; end < now.size() && (now[end] != then[end]) == is_change;) ++end;
            if (is_change) work(memory.data() + begin, then.subspan(begin, end - begin));
        }
    }
}

Changes::~Changes() {
    auto end = bytes_.size();
    for (auto range = ranges_.rbegin(); range != ranges_.rend(); ++range) {
        end -= range->size();
        copy(&bytes_[end], range->size(), range->data());
    }
}

void Changes::add(const Snapshot& before) {
    before.for_each_change([this](std::byte* now, std::span<const std::byte> then) {
        ranges_.push_back({now, then.size()});
        bytes_.insert(bytes_.end(), then.begin(), then.end());
    });
}

std::size_t bytes_to_write(const Range& variables) {
    auto sum = variables.size();
    for (const auto& a : allocations()) sum += a.range.size();
    return sum;
}

std::uint64_t state_of_memory(const Range& variables) {
    std::uint64_t state = 0;
    const auto add = [&state](const Range& r) {
        state = state * 0x9E3779B97F4A7C15 + r.begin;
        in_pieces(r, [&state](std::span<std::byte> piece) {
            const std::string_view bytes(reinterpret_cast<const char*>(piece.data()), piece.size());
            state = state * 0x9E3779B97F4A7C15 +
                    (is_zero(piece) ? bytes.size() : std::hash<std::string_view>{}(bytes));
        });
    };
    add(variables);
    for (const auto& a : allocations()) add(a.range);
    return state;
}

}  // namespace simt
