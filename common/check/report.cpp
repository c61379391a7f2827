#include "check/report.hpp"

#include "check/json.hpp"
#include "error.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <unistd.h>

namespace kata {

namespace {

constexpr std::size_t block_bytes = 64;
std::string key;
std::uint64_t lines = 0;

using Words = std::array<std::uint32_t, 8>;

constexpr bool is_prime(std::uint32_t n) {
    for (std::uint32_t d = 2; d * d <= n; ++d)
        if (n % d == 0) return false;
    return n > 1;
}

/// Returns the first 32 fraction bits of the square or cube root of n: the largest x with x^power <= n *
/// 2^(32 power).
constexpr std::uint32_t root_fraction(std::uint32_t n, int power) {
    __extension__ using Wide = unsigned __int128;
    std::uint64_t low = 0, high = std::uint64_t{1} << 37;
    while (high - low > 1) {
        const auto middle = low + (high - low) / 2;
        // 2^37 cubed has 111 bits, and 311 * 2^96 has 105.
        const auto raised = power == 2 ? Wide{middle} * middle : Wide{middle} * middle * middle;
        (raised <= Wide{n} << (32 * power) ? low : high) = middle;
    }
    return static_cast<std::uint32_t>(low);
}

template <std::size_t Count>
constexpr std::array<std::uint32_t, Count> of_primes(int power) {
    std::array<std::uint32_t, Count> fractions{};
    std::uint32_t prime = 1;
    for (auto& fraction : fractions) {
        do ++prime;
        while (!is_prime(prime));
        fraction = root_fraction(prime, power);
    }
    return fractions;
}

constexpr auto rounds = of_primes<64>(3);
static_assert(rounds[0] == 0x428a2f98 && rounds[63] == 0xc67178f2);

void digest_block(Words& state, const char* bytes) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 64; ++i) {
        if (i < 16) {
            for (std::size_t byte = 0; byte < 4; ++byte)
                w[i] = w[i] << 8 | static_cast<unsigned char>(bytes[4 * i + byte]);
            continue;
        }
        const auto a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[i - 7] +
               (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
    }
    auto s = state;
    for (std::size_t i = 0; i < 64; ++i) {
        const auto e = s[4], a = s[0];
        const auto first = s[7] + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                           ((e & s[5]) ^ (~e & s[6])) + rounds[i] + w[i];
        const auto second = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) +
                            ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        std::shift_right(s.begin(), s.end(), 1);
        s[4] += first;
        s[0] = first + second;
    }
    for (std::size_t i = 0; i < s.size(); ++i) state[i] += s[i];
}

std::string big_endian(std::uint64_t value, std::size_t bytes) {
    std::string text(bytes, '\0');
    for (auto at = text.rbegin(); at != text.rend(); ++at, value >>= 8) *at = static_cast<char>(value & 0xff);
    return text;
}

std::string sha256(std::string text) {
    const auto bits = std::uint64_t{text.size()} * 8;
    text += '\x80';
    text.resize((text.size() + 8 + block_bytes - 1) / block_bytes * block_bytes - 8);
    text += big_endian(bits, 8);
    auto state = of_primes<8>(2);
    for (std::size_t at = 0; at < text.size(); at += block_bytes) digest_block(state, text.data() + at);
    std::string digest;
    for (const auto word : state) digest += big_endian(word, 4);
    return digest;
}

}  // namespace

std::string hmac_sha256(const std::string& secret, const std::string& text) {
    std::string inner(block_bytes, '\x36'), outer(block_bytes, '\x5c');
    for (std::size_t i = 0; i < std::min(secret.size(), block_bytes); ++i)
        inner[i] ^= secret[i], outer[i] ^= secret[i];
    std::string digits;
    for (const char byte : sha256(outer + sha256(inner + text)))
        for (const int shift : {4, 0})
            digits += "0123456789abcdef"[static_cast<unsigned char>(byte) >> shift & 15];
    return digits;
}

void seal_reports(int descriptor) {
    std::array<char, 33> bytes{};
    std::size_t got = 0;
    while (got < bytes.size()) {
        const auto n = read(descriptor, bytes.data() + got, bytes.size() - got);
        if (n <= 0) break;
        got += static_cast<std::size_t>(n);
    }
    close(descriptor);
    if (got != 32) throw Error("the key of a report has 32 bytes, and here are " + std::to_string(got));
    key.assign(bytes.data(), got);
    bytes.fill(0);
}

bool reports_are_sealed() { return !key.empty(); }

std::string sealed(const std::string& line) {
    if (key.empty()) return line;
    return hmac_sha256(key, std::to_string(lines++) + " " + line) + " " + line;
}

Remarks& remarks() {
    static Remarks of_running_test;
    return of_running_test;
}

std::string kind_of_failure(const std::string& text, std::size_t failures, const Remarks& remarks) {
    if (text.starts_with("open: ")) return "open";
    return remarks.shares.size() == failures ? "slow" : "wrong";
}

std::string Record::json() const {
    const auto as_is = [](const std::string& text) { return as_json(text); };
    std::string out = "{\"test\": " + as_json(test) + ", \"kind\": " + as_json(kind);
    if (!text.empty()) out += ", \"text\": " + as_json(text);
    if (kind == "slow")
        out += ", \"share\": " + number_text(*std::min_element(remarks.shares.begin(), remarks.shares.end()));
    if (!remarks.gains.empty()) out += ", \"gains\": " + list_of(remarks.gains, as_is);
    if (!remarks.notes.empty()) out += ", \"notes\": " + list_of(remarks.notes, as_is);
    if (!remarks.figures.empty())
        out += ", \"counts\": " + list_of(remarks.figures, [](const Remarks::Figure& figure) {
                   return "{\"key\": " + as_json(figure.key) + ", \"heading\": " + as_json(figure.heading) +
                          ", \"step\": " + number_text(figure.mine) +
                          ", \"solution\": " + number_text(figure.theirs) + "}";
               });
    if (!remarks.nearest.empty()) out += ", \"nearest\": " + list_of(remarks.nearest, as_is);
    return out + "}";
}

}  // namespace kata
