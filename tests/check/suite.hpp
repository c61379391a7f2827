// Shared by the files of the suite of the tools that judge a step.
#pragma once
#include "check/compare.hpp"
#include "check/data.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::Equals;
using Catch::Matchers::StartsWith;
using kata::coded;
using kata::difference;
using kata::Layout;
using kata::reals;

inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr std::byte poison{0xA7};

/// Returns the message, or "equal".
inline std::string verdict(const std::optional<std::string>& difference) {
    return difference.value_or("equal");
}

/// Returns the pattern in the message, or "none" if it has no such line.
inline std::string pattern(const std::optional<std::string>& difference) {
    const std::string message = verdict(difference), label = "\npattern: ";
    const std::size_t at = message.find(label);
    return at == std::string::npos ? "none" : message.substr(at + label.size());
}

/// Returns the pattern that is found if exactly the elements for which `wrong` holds are corrupted, each
/// differently.
template <class Wrong>
std::string pattern_where(const Layout& layout, Wrong wrong) {
    const int count = std::accumulate(layout.extents.begin(), layout.extents.end(), 1, std::multiplies{});
    const auto expected = coded(static_cast<std::size_t>(count), 1, 1000);
    const auto noise = coded(static_cast<std::size_t>(count), 2, 1000);
    auto got = expected;
    const int width = layout.extents[0];
    for (int i = 0; i < count; ++i)
        if (wrong(i % width, i / width)) got[i] += 5000 + noise[i];
    return pattern(difference<float>(got, expected, layout));
}

template <class T>
T still_poisoned() {
    T value;
    std::memset(&value, std::to_integer<int>(poison), sizeof(T));
    return value;
}

/// A temporary folder that is removed with the test.
class Folder {
  public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "kata-check-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path_ = name;
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

    /// Writes a file with these bytes and returns its path.
    std::filesystem::path holding(const std::string& bytes, const std::string& name = "picture.pnm") const {
        std::ofstream(path_ / name, std::ios::binary) << bytes;
        return path_ / name;
    }

  private:
    std::filesystem::path path_;
};
