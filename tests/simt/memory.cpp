// Shared, constant and device memory, copies and buffers.
#include "suite.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

TEST_CASE("each block has its own shared memory, however it is declared", "[memory]") {
    const Order order = any_order();
    constexpr int n = 64;
    auto in = upload("in", counted<int>(n, 100)), out = zeros<int>("out", n);
    auto expected = counted<int>(n, 100);
    std::reverse(expected.begin(), expected.end());
    const auto reversed = [&](const auto& kernel) {
        const auto seen = observe({.order = order}, [&] { kernel(in.data(), out.data()); });
        CHECK(seen.findings == std::vector<std::string>{});
        return out.values();
    };
    const auto sized = [](const auto& kernel) { return [&](const int* a, int* b) { kernel(a, b, n); }; };
    CHECK(reversed(kernels::reverse_static) == expected);
    CHECK(reversed(kernels::reverse_static_volume) == expected);
    CHECK(reversed(kernels::reverse_in_namespace) == expected);
    CHECK(reversed(sized(kernels::reverse_dynamic)) == expected);
    CHECK(reversed(sized(kernels::reverse_dynamic_volatile)) == expected);
    CHECK(reversed(sized(kernels::reverse_dynamic_in_namespace)) == expected);
    CHECK(reversed(sized(kernels::reverse_dynamic_rows)) == expected);

    std::vector<double> halves(n), products(n);
    for (int i = 0; i < n; ++i) halves[i] = i + 0.5, products[n - 1 - i] = (i + 0.5) * (100 + i);
    auto weights = upload("weights", halves), doubles = zeros<double>("doubles", n);
    observe({.order = order}, [&] { kernels::reverse_dynamic_template(weights.data(), doubles.data(), n); });
    CHECK(doubles.values() == std::vector<double>(halves.rbegin(), halves.rend()));
    observe({.order = order},
            [&] { kernels::reverse_cut_by_hand(in.data(), weights.data(), doubles.data(), n); });
    CHECK(doubles.values() == products);
}

TEST_CASE("shared memory and structures have the requested alignment", "[memory]") {
    Buffer<unsigned> misfit("misfit", 1);
    observe({}, [&] { kernels::aligned_shared(misfit.data()); });
    CHECK(misfit.values()[0] == 0);
}

TEST_CASE("a block has more than 48 KiB of dynamic shared memory if requested", "[memory]") {
    constexpr int unasked = 12 * 1024, most = 227 * 256;  // elements of 4 bytes
    const int n = GENERATE_COPY(unasked, unasked + 1, most);
    auto in = upload("in", counted<int>(n)), out = zeros<int>("out", static_cast<std::size_t>(n));
    CHECK(fault([&] { kernels::reverse_large(in.data(), out.data(), n, 4 * n); }, {}) == "");
    CHECK(out.values() == listed<int>(n, [=](int i) { return n - 1 - i; }));
    CHECK_THAT(
        fault([&] { kernels::reverse_large(in.data(), out.data(), n, 4 * most + 1); }),
        Equals("cudaFuncSetAttribute refused: 232449 bytes of dynamic shared memory; a block has room "
               "for 232448 bytes of shared memory, and 0 of them are this kernel's __shared__ variables"));
    const auto unasked_for = fault([&] { kernels::reverse_large(in.data(), out.data(), n, 0); }, {});
    if (n == unasked)
        CHECK(unasked_for == "");
    else
        CHECK_THAT(unasked_for,
                   ContainsSubstring("a block gets 49152 bytes of shared memory, and more only"));
}

TEST_CASE("static shared memory counts too, and a kernel chosen by arguments gets what its module requested",
          "[memory]") {
    need_sizes_of_shared_memory();
    constexpr int rest = 10 * 1024, large = 12 * 1024;
    const bool named = GENERATE(true, false);
    CAPTURE(named);
    Buffer<int> out("out", 256);
    const auto fault_of = [&](int n, int asked) {
        return fault([&] { kernels::beside_static(out.data(), n, asked, named); }, {});
    };
    CHECK(fault_of(rest, 0) == "");
    if (named)
        CHECK_THAT(fault_of(rest + 1, 0), ContainsSubstring("a block gets 49152 bytes of shared memory"));
    else if (kata::counts_available())
        CHECK_THAT(fault_of(rest + 1, 0),
                   StartsWith("shared memory over the limit: a block uses more than the 49152"));
    CHECK(fault_of(large, 4 * large) == "");
    CHECK(out.values() == listed<int>(256, [](int) { return large - 1; }));
    CHECK_THAT(fault_of(large, 220 * 1024),
               EndsWith("and 8192 of them are this kernel's __shared__ variables"));
}

TEST_CASE("constants are copied to their symbol, completely or in part", "[memory]") {
    Buffer<float> out("out", 8);
    const auto eight = counted<float>(8, 1), two = std::vector<float>{-1, -2};
    observe({}, [&] { kernels::constants(eight.data(), 8, 0, out.data()); });
    CHECK(out.values() == std::vector<float>{2, 4, 6, 8, 10, 12, 14, 16});
    observe({}, [&] { kernels::constants(two.data(), 2, 6, out.data()); });
    CHECK(out.values() == std::vector<float>{2, 4, 6, 8, 10, 12, -2, -4});
    std::vector<float> back(8);
    kernels::constants_read_back(back.data(), 8);
    CHECK(back == std::vector<float>{1, 2, 3, 4, 5, 6, -1, -2});
}

TEST_CASE("the address of a symbol is an address in device memory", "[memory]") {
    const auto values = counted<float>(9, 1);
    std::vector<float> back(8, -1);
    CHECK(fault([&] { kernels::constants_by_address(values.data(), 3, back.data()); }) == "");
    CHECK(back == std::vector<float>{1, 2, 3, 0, 0, 0, 0, 0});
    CHECK_THAT(fault([&] { kernels::constants_by_address(values.data(), 9, back.data()); }),
               Equals("copy refused: 36 bytes at offset 0 do not fit into a symbol of 32 bytes"));
}

TEST_CASE("a copy that does not fit is refused", "[memory]") {
    Buffer<float> out("out", 8);
    auto nine = counted<float>(9);
    CHECK_THAT(fault([&] { kernels::constants(nine.data(), 9, 0, out.data()); }),
               Equals("copy refused: 36 bytes at offset 0 do not fit into a symbol of 32 bytes"));
    CHECK_THAT(fault([&] { kernels::constants(nine.data(), 2, 7, out.data()); }),
               Equals("copy refused: 8 bytes at offset 28 do not fit into a symbol of 32 bytes"));
    CHECK_THAT(fault([&] { kernels::constants_read_back(nine.data(), 9); }),
               StartsWith("copy refused: 36 bytes"));
    Buffer<float> others("others", std::span<const float>(nine));
    CHECK_THAT(fault([&] { kernels::copy_within(out.data() + 2, others.data(), 7 * sizeof(float)); }),
               Equals("copy refused: 28 bytes at offset 8 do not fit into \"out\" of 32 bytes"));
    CHECK_THAT(fault([&] { kernels::copy_within(others.data(), out.data(), 9 * sizeof(float)); }),
               Equals("copy refused: 36 bytes are more than the source \"out\" has: 32"));
    CHECK(fault([&] { kernels::copy_within(out.data() + 2, others.data(), 6 * sizeof(float)); }) == "");
}

TEST_CASE("check() names the line and CUDA's description of the error", "[memory]") {
    CHECK(fault([] { kernels::check_errors(false); }) == "");
    CHECK(fault([] { kernels::check_errors(true); }) == line_of("check") + ": invalid argument");
}

TEST_CASE("a copy whose direction contradicts its arguments is refused", "[memory]") {
    Buffer<float> out("out", 8);
    std::vector<float> host(8);
    CHECK(fault([&] { kernels::copy_within(out.data(), host.data(), 4); }) ==
          "copy refused: cudaMemcpy is called to copy from the device, but that is memory of the host");
    CHECK(fault([&] { kernels::copy_within(host.data(), out.data(), 4); }) ==
          "copy refused: cudaMemcpy is called to copy to the device, but that is memory of the host");
    CHECK(fault([&] { kernels::copy_to_host(out.data(), host.data(), 4); }) ==
          "copy refused: cudaMemcpy is called to copy to the host, but that is memory of the device");
    CHECK(fault([&] { kernels::copy_to_host(host.data(), out.data(), 4); }) == "");
    CHECK(fault([&] { kernels::copy_to_host(out.data(), host.data(), 0); }) == "");
}

TEST_CASE("a copy to a symbol as if to an address names the function for symbols", "[memory]") {
    const std::vector<float> host(8);
    const auto message = fault([&] { kernels::to_symbol_as_to_an_address(host.data()); });
    CHECK(message ==
          "copy refused: cudaMemcpy is given \"unasked\", which is not an address in device memory: where it "
          "is declared __constant__ or __device__, use cudaMemcpyToSymbol");
}

TEST_CASE("a copy to or from a symbol whose direction contradicts its arguments is refused", "[memory]") {
    Buffer<float> out("out", 8);
    std::vector<float> host(8);
    const std::string of_device =
        "host, but that is memory of the device: its fifth argument says so, and is cudaMemcpy";
    using kernels::Direction;
    const auto to_symbol = [](const float* from, Direction kind) {
        return fault([=] { kernels::to_symbol(from, kind); });
    };
    CHECK(to_symbol(host.data(), Direction::host_to_device) == "");
    CHECK(to_symbol(out.data(), Direction::device_to_device) == "");
    CHECK(to_symbol(host.data(), Direction::automatic) == "");
    CHECK(to_symbol(out.data(), Direction::automatic) == "");
    CHECK(to_symbol(out.data(), Direction::host_to_device) ==
          "copy refused: cudaMemcpyToSymbol is called to copy from the " + of_device +
              "HostToDevice where it is left out. CUDA leaves undefined what such a copy does");
    CHECK_THAT(to_symbol(host.data(), Direction::device_to_device),
               StartsWith("copy refused: cudaMemcpyToSymbol is called to copy from the device, but that is"));
    CHECK_THAT(to_symbol(host.data(), Direction::host_to_host),
               StartsWith("copy refused: cudaMemcpyToSymbol is called to copy to the host"));
    const auto from_symbol = [](float* to, Direction kind) {
        return fault([=] { kernels::from_symbol(to, kind); });
    };
    CHECK(from_symbol(host.data(), Direction::device_to_host) == "");
    CHECK(from_symbol(out.data(), Direction::device_to_device) == "");
    CHECK(from_symbol(out.data(), Direction::device_to_host) ==
          "copy refused: cudaMemcpyFromSymbol is called to copy to the " + of_device +
              "DeviceToHost where it is left out. CUDA leaves undefined what such a copy does");
    CHECK_THAT(from_symbol(host.data(), Direction::host_to_device),
               StartsWith("copy refused: cudaMemcpyFromSymbol is called to copy from the host"));
}

TEST_CASE("memory is freed once, and only by the step that allocated it", "[memory]") {
    Buffer<float> out("out", 8);
    CHECK(fault([] { kernels::free_twice(); }) ==
          "cudaFree refused: that is not a pointer from cudaMalloc, or has been freed already");
    CHECK(fault([&] { kernels::free_it(out.data()); }) ==
          "cudaFree refused: \"out\" belongs to the caller of the step");
    CHECK(fault([] { kernels::free_it(nullptr); }) == "");
}

TEST_CASE("variables and buffers of the device outlive a launch", "[memory]") {
    Buffer<int> out("out", 50);
    observe({}, [&] { kernels::count_on_the_device(out.data(), 100); });
    CHECK(out.values()[0] == 100);
    const auto seen = observe({}, [&] { kernels::two_kernels(out.data(), 50); });
    CHECK(seen.findings == std::vector<std::string>{});
    CHECK(out.values() == listed<int>(50, [](int i) { return i * i; }));
}

TEST_CASE("arrays of the device are aligned like buffers", "[memory]") {
    void *letter = nullptr, *letters = nullptr;
    kernels::addresses_of_arrays(&letter, &letters);
    CHECK(reinterpret_cast<std::uintptr_t>(letter) % 256 == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(letters) % 256 == 0);
}

TEST_CASE("a buffer has the promised size, alignment, poison and canaries", "[memory]") {
    Buffer<unsigned char> a("a", 5, std::byte{0x11}), empty("empty", 0);
    CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % 256 == 0);
    CHECK(a.values() == std::vector<unsigned char>(5, 0x11));
    CHECK(a.damage() == std::nullopt);
    CHECK(empty.values().empty());
    a.data()[7] = 1;
    CHECK(a.damage() == "out of bounds: something was written 2 bytes past the end of \"a\" of 5 bytes");
    a.data()[7] = 0xC5, a.data()[-3] = 1;
    CHECK(a.damage() == "out of bounds: something was written 3 bytes before \"a\" of 5 bytes");
}

TEST_CASE("a period fills a buffer, and is stored once if it consists of whole pages", "[memory]") {
    const std::size_t length = 4096 * GENERATE(1u, 3u) + GENERATE(0u, 1u), count = 500'000;
    std::vector<std::uint8_t> period(length), expected(count);
    for (std::size_t i = 0; i < length; ++i) period[i] = static_cast<std::uint8_t>(i * 37 >> 3);
    for (std::size_t i = 0; i < count; ++i) expected[i] = period[i % length];
    Buffer<std::uint8_t> all("all", count, kata::zeros), few("few", 100), none("none", 0);
    for (auto* buffer : {&all, &few, &none})
        kata::device::repeat(buffer->data(), buffer->size(), std::as_bytes(std::span(period)));
    CHECK(all.values() == expected);
    CHECK(few.values() == std::vector(expected.begin(), expected.begin() + 100));
    for (const auto* buffer : {&all, &few, &none}) CHECK(buffer->damage() == std::nullopt);
    // A write to one period does not show in the others.
    all.set(5 * length + 1, 200), expected[5 * length + 1] = 200;
    CHECK(all.values() == expected);
    const auto shared = all.data() + 100 * 4096;
    const auto* const elsewhere = shared + length;
    const auto before = *elsewhere;
    *shared = static_cast<std::uint8_t>(before + 1);
    CHECK(*elsewhere == before);
}

TEST_CASE("a launch with more static and dynamic shared memory than a block has is refused", "[bounds]") {
    need_sizes_of_shared_memory();
    Buffer<int> out("out", 256);
    CHECK(fault([&] { kernels::static_shared_at_limit(out.data()); }, {}) == "");
    CHECK_THAT(
        fault([&] { kernels::shared_over_limit(out.data()); }, {}),
        StartsWith("launch refused: ") && ContainsSubstring(": a block gets 49152 bytes of shared memory"));
}

TEST_CASE("pointers to memory outside the device are diagnosed", "[bounds]") {
    need_meter();
    Buffer<int> out("out", 8);
    std::vector<int> on_the_heap(100'000);
    static int in_the_program[8];
    int on_the_stack[8] = {};
    const auto message = "out of bounds: thread (0,0,0) of block (0,0,0) reads 4 bytes ";
    const auto where = ", in " + line_of("read through");
    CHECK(fault([&] { kernels::read_through(nullptr, out.data()); }) ==
          message + ("through a null pointer" + where));
    for (const int* pointer :
         {static_cast<const int*>(on_the_heap.data()), static_cast<const int*>(in_the_program),
          static_cast<const int*>(on_the_stack)})
        CHECK_THAT(fault([&] { kernels::read_through(pointer, out.data()); }),
                   StartsWith(message) && Catch::Matchers::EndsWith(where));
    CHECK_THAT(fault([&] { kernels::unasked_dynamic_shared(out.data()); }),
               ContainsSubstring("writes 4 bytes right past the end of dynamic shared memory (0 bytes, the "
                                 "third argument of <<<)"));
}

TEST_CASE("a misaligned float4 is diagnosed", "[bounds]") {
    need_meter();
    Buffer<float> in("in", 16), out("out", 1);
    CHECK(fault([&] { kernels::misaligned(in.data(), out.data(), 4); }) == "");
    CHECK_THAT(fault([&] { kernels::misaligned(in.data(), out.data(), 2); }),
               Equals("misaligned access: thread (0,0,0) of block (0,0,0) reaches 16 bytes at offset 8 of "
                      "\"in\", which is not a multiple of 16, in " +
                      line_of("misaligned")));
    Buffer<float> square("square", 36);  // the number is also that of its rows and columns
    CHECK_THAT(
        fault([&] { kernels::misaligned(square.data(), out.data(), 6); }),
        EndsWith(line_of("misaligned") +
                 "\n  where rows have 6 elements, as \"offset\" says, it is element 0 of row 1: only if "
                 "their length is a multiple of 4 does every row begin at a multiple of 16 bytes"));
}

TEST_CASE("a stack that overflows is diagnosed", "[bounds]") {
    need_meter();
    Buffer<int> out("out", 1);
    CHECK(fault([&] { kernels::recurse(out.data(), 100); }) == "");
    CHECK(out.values()[0] == 100);
    for (const auto& overflow : {std::function([&] { kernels::recurse(out.data(), 100'000); }),
                                 std::function([&] { kernels::large_frame(out.data(), 10); })})
        CHECK_THAT(fault(overflow),
                   StartsWith("stack overflow: thread (0,0,0) of block (0,0,0) has no room for its "
                              "local variables in memory.cu:"));
}
