// The findings of an observation, each reported once.
#pragma once
#include "observe.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace meter {

struct Findings {
    static constexpr std::size_t most = 8;

    std::vector<std::string> texts, causes;  // as in kata::Observation
    std::optional<kata::Race> race;
    /// The facts already reported: mostly the two lines of a race.
    std::set<std::pair<std::string, std::string>> reported;
    bool muted = false;

    bool full() const { return texts.size() >= most; }
    /// True at the first call for this pair.
    bool is_new(const std::pair<std::string, std::string>& what) { return reported.insert(what).second; }
    /// True if a reported race or similar finding has `at` as one of its lines.
    bool clashes_at(const std::string& at) const {
        return std::any_of(reported.begin(), reported.end(), [&](const auto& lines) {
            return lines.second.find(':') != std::string::npos && (lines.first == at || lines.second == at);
        });
    }
    void add(std::string text) {
        if (!muted) texts.push_back(std::move(text));
    }
};

}  // namespace meter
