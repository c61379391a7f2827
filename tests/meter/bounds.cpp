// Accesses out of bounds.
#include "meter/locate.hpp"
#include "suite.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <optional>
#include <string>
#include <vector>

TEST_CASE("an access out of bounds is reported with its distance from the buffer", "[bounds]") {
    auto in = filled<float>("in", 100), out = filled<float>("out", 100);
    const auto read = [&](long offset) {
        return fault([&] { kernels::read_at(in.data(), out.data(), offset); });
    };
    const auto write = [&](long offset) { return fault([&] { kernels::write_at(out.data(), offset); }); };
    const std::string in_read = ", in " + line_of("read at"), in_write = ", in " + line_of("write at");
    const auto guard = [](const std::string& name, const std::string& index) {
        return "\n  its index, counted from the start of \"" + name + "\", is " + index +
               ", and there are 100 elements: is there a guard before this line that admits only "
               "indices below that number?";
    };
    CHECK(read(0) == "");
    CHECK(read(68) == "");
    CHECK(read(69) ==
          "out of bounds: thread (31,0,0) of block (0,0,0) reads 4 bytes right past the end of \"in\" "
          "(400 bytes)" +
              in_read + guard("in", "100"));
    CHECK(read(110) ==
          "out of bounds: thread (0,0,0) of block (0,0,0) reads 4 bytes beginning 40 bytes past the end of "
          "\"in\" (400 bytes)" +
              in_read + guard("in", "110"));
    CHECK(
        read(-1) ==
        "out of bounds: thread (0,0,0) of block (0,0,0) reads 4 bytes beginning 4 bytes before the start of "
        "\"in\" (400 bytes)" +
            in_read +
            "\n  nothing lies before its first element: does a test before this line leave out the threads "
            "or rounds that would reach there?");
    CHECK_THAT(read(1l << 40),
               StartsWith("out of bounds: thread (0,0,0) of block (0,0,0) reads 4 bytes that are "
                          "not device memory"));
    CHECK(write(69) ==
          "out of bounds: thread (31,0,0) of block (0,0,0) writes 4 bytes right past the end of "
          "\"out\" (400 bytes)" +
              in_write + guard("out", "100"));
    CHECK_THAT(write(-3), ContainsSubstring("writes 4 bytes beginning 12 bytes before the start of \"out\""));
    CHECK(out.damage() == std::nullopt);  // the access was prevented
    CHECK(write(68) == "");

    Buffer<float> empty("nothing", 0);
    CHECK_THAT(fault([&] { kernels::read_at(empty.data(), out.data(), 0); }),
               ContainsSubstring("reads 4 bytes right past the end of \"in\" (0 bytes)"));
}

TEST_CASE("an access out of bounds is attributed to the array that its instruction accessed before",
          "[bounds]") {
    auto one = filled<float>("one", 4), other = filled<float>("other", 4), out = filled<float>("out", 2);
    float* const in = std::min(one.data(), other.data());
    // The address just before the next buffer counts as the first buffer's.
    const long distance = std::max(one.data(), other.data()) - in;
    CHECK_THAT(fault([&] { kernels::read_two(in, out.data(), 0, distance - 1); }),
               ContainsSubstring(" bytes past the end of \"in\" (16 bytes), in " + line_of("read two")));
    CHECK_THAT(fault([&] { kernels::read_two(in, out.data(), distance - 1, 0); }),
               ContainsSubstring("reads 4 bytes beginning 4 bytes before the start of \""));
}

TEST_CASE("a kernel can access variables of the device, but not of the host", "[bounds]") {
    using enum kernels::Table;
    Buffer<float> out("out", 32);
    const auto reached = [&](kernels::Table table) {
        return fault([&] { kernels::read_table(table, out.data()); });
    };
    const std::string first = "host memory: thread (0,0,0) of block (0,0,0) ",
                      why =
                          ", a variable of the host, which no kernel can reach: declare it __constant__ or "
                          "__device__, or copy it to memory of the device, in ";
    CHECK(reached(host) == first + "reads 4 bytes of \"host_weights\"" + why + line_of("table"));
    CHECK(reached(host_constant) == first + "reads 4 bytes of \"host_constants\"" + why + line_of("table"));
    CHECK(reached(host_function) == first + "reads 4 bytes of \"within\"" + why + line_of("table"));
    CHECK(reached(host_written) ==
          first + "writes 4 bytes of \"host_weights\"" + why + line_of("write table"));
    CHECK(reached(host_heap) ==
          "out of bounds: thread (0,0,0) of block (0,0,0) reads 4 bytes of host memory, where \"weights\" "
          "points: on a GPU the kernel ends there, in " +
              line_of("table"));
    for (const auto table : {device, device_constant, constant, own}) CHECK(reached(table) == "");
}

TEST_CASE("the parameters of a kernel have the names from its source", "[bounds]") {
    const std::string file = TESTS_DIR "/meter/bounds.cu";
    const auto names = [&](const char* kernel) { return meter::parameters_of({}, file, kernel); };
    using Names = std::vector<std::string>;
    CHECK(names("own_table_kernel<T>") == Names{"which", "out"});
    CHECK(names("kernels::read_two_kernel") == Names{"in", "out", "first", "second"});
    CHECK(names("read_two") == Names{});  // not a kernel
    CHECK(names("kernel") == Names{});    // only the end of many names
    CHECK(meter::parameters_of({}, "no file", "copy_kernel") == Names{});
}

TEST_CASE("a copy that does not fit on either side is refused", "[bounds]") {
    using enum kernels::TooMuch;
    const auto [what, text] = GENERATE(table<kernels::TooMuch, std::string>({
        {source, "copy refused: 16 bytes at offset 4 are not all in \"data\" of 16 bytes"},
        {target, "copy refused: 16 bytes at offset 4 do not fit into \"data\" of 16 bytes"},
        {behind, "copy refused: 4 bytes at offset 16 are not all in \"data\" of 16 bytes"},
        {host_array, "copy refused: 17 bytes, and the host's array has room for 16"},
        {host_source, "copy refused: 17 bytes, and the host's array has room for 16"},
        {symbol, "copy refused: 16 bytes at offset 8 are not all in \"data\" of 16 bytes"},
        {host_memset, "cudaMemset refused: that is memory of the host; use std::memset or std::fill"},
    }));
    auto data = filled<int>("data", 4);
    CHECK(fault([&, what = what] { kernels::host_copies_too_much(what, data.data()); }) == text);
}

TEST_CASE("an access that straddles the end of a buffer is reported", "[bounds]") {
    auto in = filled<float>("in", 6);
    Buffer<float4> out("out", 1);
    const auto* vectors = reinterpret_cast<const float4*>(in.data());
    CHECK(fault([&] { kernels::read_vector_at(vectors, out.data(), 0); }) == "");
    CHECK_THAT(
        fault([&] { kernels::read_vector_at(vectors, out.data(), 1); }),
        ContainsSubstring("reads 16 bytes of which the last 8 lie past the end of \"in\" (24 bytes)") &&
            EndsWith("\n  whole accesses of 16 bytes end at byte 16 of 24: the bytes after it need narrower "
                     "ones"));
}

TEST_CASE("accesses to shared and constant memory are bounds-checked", "[bounds]") {
    Buffer<float> out("out", 32);
    CHECK(fault([&] { kernels::dynamic_at(out.data(), 0); }) == "");
    CHECK_THAT(fault([&] { kernels::dynamic_at(out.data(), 1); }),
               StartsWith("out of bounds: thread (31,0,0)") &&
                   ContainsSubstring("reads 4 bytes right past the end of dynamic shared memory (128 bytes, "
                                     "the third argument of <<<)"));
    CHECK_THAT(
        fault([&] { kernels::dynamic_at(out.data(), -1); }),
        StartsWith("out of bounds: thread (0,0,0)") &&
            ContainsSubstring("reads 4 bytes beginning 4 bytes before the start of dynamic shared memory"));
    CHECK(fault([&] { kernels::shared_at(out.data(), 0); }) == "");
    CHECK_THAT(fault([&] { kernels::shared_at(out.data(), 1 << 20); }),
               StartsWith("out of bounds: thread (") &&
                   (ContainsSubstring(" bytes past the end of ") ||
                    ContainsSubstring("uses index 1048576 of an array")));  // clang
    CHECK(fault(kernels::write_constant) ==
          "out of bounds: thread (0,0,0) of block (0,0,0) writes 4 bytes of constant "
          "memory, which no kernel can write, in " +
              line_of("write constant"));
}

TEST_CASE("an index out of range is reported, for local and adjacent arrays as well", "[bounds]") {
    auto out = filled<float>("out", 32);
    // An array is named if its line indexes no other array.
    const auto at = [](const std::string& index, const std::string& type, const std::string& mark,
                       const std::string& name = "") {
        return EndsWith(
            " of block (0,0,0) uses index " + index + " of an array of type '" + type + "'" +
            (name.empty() ? "" : ", \"" + name + '"') + ", in " + line_of(mark) +
            "\n  its elements are 0 to " + std::to_string(std::stoi(type.substr(type.find('[') + 1)) - 1) +
            (index.starts_with('-')
                 ? ": does a test or a loop before this line go below 0?"
                 : ": does a test or a loop before this line go further, or is the array too small?"));
    };
    CHECK(fault([&] { kernels::local_at(out.data(), 7); }) == "");
    CHECK_THAT(fault([&] { kernels::local_at(out.data(), 8); }), at("8", "float [8]", "local at", "local"));
    CHECK_THAT(fault([&] { kernels::local_at(out.data(), -1); }), at("-1", "float [8]", "local at", "local"));
    CHECK(fault([&] { kernels::neighbour_at(out.data(), 31); }) == "");
    CHECK_THAT(fault([&] { kernels::neighbour_at(out.data(), 32); }), at("32", "float [32]", "neighbour at"));
    const auto [times, place] = GENERATE(table<int, std::string>({{1, ""}, {2, "2 * "}}));
    CHECK_THAT(fault([&, times = times] { kernels::place_in_grid_at(out.data(), times); }),
               EndsWith("\n  its elements are 0 to 31, and " + std::to_string(32 * times) + " is " + place +
                        "blockIdx.x * blockDim.x here: no other block reaches this array, so does its index "
                        "need blockIdx?"));
    CHECK(fault([&] { kernels::rows_at(out.data(), 3, 7); }) == "");
    CHECK_THAT(fault([&] { kernels::rows_at(out.data(), 1, 8); }), at("8", "float [8]", "rows at", "rows"));
    CHECK_THAT(fault([&] { kernels::rows_at(out.data(), 4, 0); }),
               at("4", "float [4][8]", "rows at", "rows"));
    CHECK(fault([&] { kernels::flat_rows_at(out.data(), 31); }) == "");
    CHECK(found([&] { kernels::host_local_at(7); }) == Findings{});
    CHECK(found([&] { kernels::host_local_at(8); }) ==
          Findings{"out of bounds: the host code uses index 8 of an array of type 'int [8]', in " +
                   line_of("host local at") +
                   "\n  its elements are 0 to 7: does a test or a loop before this line go further, or is "
                   "the array too small?"});
}

// Without counting, an access is noticed only if there is no memory at its address.
TEST_CASE("an access out of bounds ends the launch and names its line even if nothing is counted",
          "[bounds]") {
    auto in = filled<float>("in", 100), out = filled<float>("out", 100);
    const auto fault = [&](const auto& work) -> std::string {
        try {
            observe({.metered = false}, work);
        } catch (const kata::Error& e) {
            return e.what();
        }
        return "";
    };
    CHECK_THAT(
        fault([&] { kernels::read_at(in.data(), out.data(), -(1l << 40)); }),
        Equals("out of bounds: thread (0,0,0) of block (0,0,0) reads memory that is not device memory, "
               "in " +
               line_of("read at")));
    CHECK_THAT(
        fault([&] { kernels::write_at(out.data(), -(1l << 40)); }),
        Equals(
            "out of bounds: thread (0,0,0) of block (0,0,0) writes to memory that is not device memory, in " +
            line_of("write at")));
    CHECK(fault([&] { kernels::read_at(in.data(), out.data(), 0); }) == "");
}

// Kept last in the program: after a buffer of 2 GiB is freed, later buffers are far apart.
TEST_CASE("an offset that lost its upper bits is reported with the usual cause", "[bounds]") {
    constexpr long elements = (1l << 29) + 32;  // a little more than 2^31 bytes
    Buffer<float> in("in", elements, kata::zeros), out("out", 32);
    const auto reads = [&](long offset) {
        return fault([&] { kernels::read_at(in.data(), out.data(), offset); });
    };
    constexpr long lost = 1l << 30;  // 2^32 bytes
    CHECK_THAT(reads(elements - 32 - lost),
               ContainsSubstring(" 2147483648 bytes before the start of \"in\" (2147483776 bytes), in " +
                                 line_of("read at") + "\n  the usual cause: an int that overflows"));
    CHECK_THAT(reads(-4), !ContainsSubstring("overflows"));
}
