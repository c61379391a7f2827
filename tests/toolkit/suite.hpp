// Shared by the files of the toolkit's suite: what CUDA's headers offer beyond the language, such as
// intrinsics, streams and events, properties of the device, and the headers in common/simt/toolkit.
#pragma once
#include "buffer.hpp"
#include "error.hpp"
#include "kernels.hpp"
#include "marks.hpp"
#include "observe.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using kata::Buffer;
using kata::Conditions;
using kata::observe;
using kata::Order;

using Findings = std::vector<std::string>;

/// value(0), value(1), …
template <class T, class Value>
std::vector<T> listed(int n, const Value& value) {
    std::vector<T> values;
    for (int i = 0; i < n; ++i) values.push_back(static_cast<T>(value(i)));
    return values;
}
template <class T>
Buffer<T> upload(std::string_view name, const std::vector<T>& values) {
    return {name, std::span<const T>(values)};
}
template <class T>
Buffer<T> zeros(std::string_view name, std::size_t n = 1) {
    return upload(name, std::vector<T>(n));
}

/// Returns the message of the error that ends the work, "" if it ends without one.
inline std::string fault(const std::function<void()>& work) {
    try {
        observe({.time_limit = 0.5}, work);
    } catch (const kata::Error& e) {
        return e.what();
    }
    return "";
}

/// Returns "streams.cu:12" if line 12 of that file has the comment `mark: …`.
inline std::string line_of(const std::string& mark) { return marked_line(TESTS_DIR "/toolkit", mark); }
