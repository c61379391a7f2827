// Command-line options that are not Catch2's.
#pragma once
#include <algorithm>
#include <optional>
#include <span>
#include <string>

namespace kata {

/// Returns the value of an option, if given.
inline std::optional<std::string> option(std::span<char* const> arguments, const std::string& name,
                                         std::size_t place = 1) {
    for (std::size_t i = 0; i + place < arguments.size(); ++i)
        if (arguments[i] == name) return arguments[i + place];
    return std::nullopt;
}
/// True if the option is given.
inline bool flag(std::span<char* const> arguments, const std::string& name) {
    return std::any_of(arguments.begin(), arguments.end(), [&](const char* a) { return a == name; });
}

}  // namespace kata
