// Shared by the files of the CPU back end's suite. Kernels must compute on it what CUDA specifies, and it
// must refuse, with file, line, block and thread, what would hang, crash or compute nonsense on a GPU.
#pragma once
#include "buffer.hpp"
#include "error.hpp"
#include "kernels.hpp"
#include "marks.hpp"
#include "observe.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::Equals;
using Catch::Matchers::StartsWith;
using kata::Buffer;
using kata::Conditions;
using kata::observe;
using kata::Order;

/// value(0), value(1), …
template <class T, class Value>
std::vector<T> listed(int n, const Value& value) {
    std::vector<T> values;
    for (int i = 0; i < n; ++i) values.push_back(static_cast<T>(value(i)));
    return values;
}

template <class T>
std::vector<T> counted(int n, int first = 0) {
    return listed<T>(n, [=](int i) { return first + i; });
}

template <class T>
Buffer<T> upload(std::string_view name, const std::vector<T>& values) {
    return {name, std::span<const T>(values)};
}

template <class T>
Buffer<T> zeros(std::string_view name, std::size_t n = 1) {
    return upload(name, std::vector<T>(n));
}

inline Order any_order() { return GENERATE(Order::forwards, Order::backwards, Order::shuffled); }
/// Returns the message of the error that ends the work, "" if it ends without one. Checks that the back end
/// still works.
inline std::string fault(const std::function<void()>& work,
                         const Conditions& conditions = {.time_limit = 0.1}) {
    std::string message;
    try {
        observe(conditions, work);
    } catch (const kata::Error& e) {
        message = e.what();
    }
    auto in = upload("in", counted<int>(64)), out = zeros<int>("out", 64);
    observe({}, [&] { kernels::reverse_static(in.data(), out.data()); });
    auto expected = counted<int>(64);
    std::reverse(expected.begin(), expected.end());
    CHECK(out.values() == expected);
    return message;
}

/// Returns "warps.cu:12" if line 12 of that file has the comment `mark: …`.
inline std::string line_of(const std::string& mark) { return marked_line(TESTS_DIR "/simt", mark); }

/// Skips the test under AddressSanitizer. There simt/cuda.hpp declares shared memory as plain static memory,
/// and no symbol has its size.
inline void need_sizes_of_shared_memory() {
#if defined(__SANITIZE_ADDRESS__)
    SKIP("under AddressSanitizer the static shared memory of a kernel is not known");
#endif
}

inline void need_meter() {
    if (!kata::counts_available()) SKIP("only instrumented kernels come back to the scheduler by themselves");
}
