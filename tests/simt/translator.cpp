// The translator from CUDA C++ to C++.
#include "suite.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <unistd.h>

namespace {

struct Translation {
    int status;
    std::string errors, text, dependencies;
};

/// Runs the translator on a source with other files next to it.
Translation translate(const std::string& source, const std::map<std::string, std::string>& beside = {}) {
    const auto folder =
        std::filesystem::temp_directory_path() / ("kata-translate-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder / "own");
    std::ofstream(folder / "step.cu") << source;
    for (const auto& [name, text] : beside) std::ofstream(folder / name) << text;
    const auto quoted = [](const std::filesystem::path& path) { return "'" + path.string() + "'"; };
    auto run = quoted(PYTHON) + " " + quoted(TRANSLATE);
    for (const auto* argument : {"step.cu", "step.cpp", "step.d"}) run += " " + quoted(folder / argument);
    run += " 2> " + quoted(folder / "errors");
    const auto read = [&](const char* name) {
        std::ifstream file(folder / name);
        std::string text{std::istreambuf_iterator<char>(file), {}};
        for (std::size_t at; (at = text.find(folder.string() + "/")) != std::string::npos;)
            text.erase(at, folder.string().size() + 1);
        return text;
    };
    Translation result{std::system(run.c_str()), read("errors"), read("step.cpp"), read("step.d")};
    std::filesystem::remove_all(folder);
    return result;
}

}  // namespace

TEST_CASE("the translator notices an error that is never read", "[translator]") {
    const auto dropped = [](const std::string& source) {
        const auto text = translate("void f(bool b) { " + source + " }\n").text;
        return text.find("simt::dropped_cuda") != std::string::npos;
    };
    for (const auto* source :
         {"cudaGetLastError();", "if (b) cudaGetLastError();", "if (b) ; else cudaPeekAtLastError();",
          "(void)cudaGetLastError();", "::cudaGetLastError();", "b = true; cudaGetLastError( ) ;",
          "while (b) (void)::cudaGetLastError();"}) {
        CAPTURE(source);
        CHECK(dropped(source));
    }
    for (const auto* source :
         {"auto e = cudaGetLastError();", "check(cudaGetLastError());", "b = b ? 1 : cudaGetLastError();",
          "if (cudaGetLastError()) return;", "[] { return cudaGetLastError(); }();",
          "int e = (int)cudaGetLastError();", "std::cout << cudaGetLastError();"}) {
        CAPTURE(source);
        CHECK(!dropped(source));
    }
}

TEST_CASE("the translator lists what a source declares for the device", "[translator]") {
    const auto [source, names] = GENERATE(table<std::string, std::string>({
        {"__device__ unsigned done;", "done"},
        {"static __device__ __align__(16) float a[2] = {1, b}, c, d[3];", "a c d"},
        {"__constant__ float w[3]; static const float host[3] = {};", "w"},
        {"template <class T> __device__ T many = T{};", "many"},
        {"struct F { __host__ __device__ float operator()(float x) const { return x; } };", "operator"},
        {"__device__ float (*chosen)(float);", "chosen"},
        {"#define HD __host__ __device__\nHD float help(float x) { return x; }", "help"},
        {"__global__ void __launch_bounds__(256) add(const float* x) {}", "add"},
        {"__device__ std::array<float, 4> four{1, 2};", "four"},
        {"#define MAKE(name) __global__ void name() {}", "*"},
    }));
    CHECK_THAT(translate(source + "\n").text,
               ContainsSubstring(" simt_of_device[] = \"" + names + "\";\n#line 1 "));
}

TEST_CASE("the initial value of a local variable is not a local array", "[translator]") {
    const auto text =
        translate("__global__ void k(float* p) { float *q = &p[0] + 1, r[99] = {p[1]}, s[99]; }\n").text;
    CHECK_THAT(text, ContainsSubstring("hold_local(\"r\"") && ContainsSubstring("hold_local(\"s\""));
    CHECK_THAT(text, !ContainsSubstring("hold_local(\"p\""));
}

TEST_CASE("the translator rejects code without a meaning on the CPU in one line", "[translator]") {
    const auto [source, what] = GENERATE(table<std::string, std::string>({
        {"wmma::experimental::precision::b1", "such tensor cores"},
        {"wmma::bmma_sync(c, a, b, c);", "such tensor cores"},
        {"wmma::fragment<wmma::matrix_a, 32, 8, 16, half, wmma::row_major> a;", "such tensor cores"},
        {"wmma::fragment<wmma::accumulator, 8, 8, 4, double> c;", "such tensor cores"},
        {"wmma::fragment<wmma::matrix_b, 16, 16, 16, unsigned char, wmma::col_major> b;",
         "such tensor cores"},
        {"wmma::fragment<wmma::accumulator, 16, 16, 16, int> c;", "such tensor cores"},
        {"asm volatile(\"mov.u32 %0, %laneid;\" : \"=r\"(lane));", "inline PTX"},
        {"__asm__(\"trap;\");", "inline PTX"},
        {"texture<float, 2> t;", "textures"},
        {"cudaTextureObject_t t", "textures"},
        {"x = tex2D<float>(t, 0.5f, 0.5f);", "textures"},
        {"#include <cuda/ptx>", "<cuda/ptx>: it has atomic, "},
        {"#include <cuda/std/tuple>", "<cuda/std/tuple>: it has atomic, "},
        {"#include <cuda_fp8.h>", "arithmetic in less than 16 bits"},
        {"#include \"cuda_fp4.h\"", "arithmetic in less than 16 bits"},
        {"cub::DeviceScan::InclusiveSum(t, b, in, out, n);", "cub::DeviceScan, which is a library's: write "},
        {"cublasSgemm(handle);", "cublasSgemm, which is a library's"},
        {"curandState_t state;", "curandState_t, which is a library's"},
        {"cudaStreamBeginCapture(s, m);", "cudaStreamBeginCapture"},
        {"cudaLaunchCooperativeKernel(k, 1, 32, arguments);", "cooperative launches"},
        {"cudaLaunchKernel(k, 1, 32, arguments, 0, 0);",
         "cudaLaunchKernel: launch it as kernel<<<grid, block>>>(arguments)"},
        {"cudaMemPrefetchAsync(p, 4, 0, 0);", "cudaMemPrefetchAsync: leave it out"},
        {"cudaIpcGetMemHandle(h, p);", "cudaIpcGetMemHandle: this line needs a GPU build"},
    }));
    const auto made = translate("// a step\n/* of two\nlines */\n" + source + "\n");
    CHECK(made.status != 0);
    CHECK_THAT(made.errors, StartsWith("step.cu:4: error: the CPU back end has no " + what));
    CHECK(std::count(made.errors.begin(), made.errors.end(), '\n') == 1);
}

TEST_CASE("a step may include a library's header that it does not use", "[translator]") {
    const auto header = GENERATE("cublas_v2.h", "curand_kernel.h", "thrust/device_vector.h", "cub/cub.cuh");
    CHECK(translate("#include <" + std::string(header) + ">  // not needed\nint x;\n").text ==
          "#include \"simt/cuda.hpp\"\n#line 1 \"step.cu\"\n  // not needed\nint x;\n");
}

TEST_CASE("the translator rejects in one line what nvcc would reject", "[translator]") {
    const auto [source, what] = GENERATE(table<std::string, std::string>({
        {"void k(int n) {\n}\nvoid f() { k<<<1, 2>>>(3); }",
         ":2: error: k is launched, so it needs a __global__ in front\n"},
        {"__global__ void m(int n) {\n}\nvoid k(int n) {\nk<<<1, 2>>>(3); }",
         ":4: error: k is launched, so it needs a __global__ in front; or is a kernel meant: m?\n"},
        {"namespace a { template <class T> inline void k(T n) {\n} }\nvoid f() { ::a::k<int><<<1, 2>>>(3); }",
         ":2: error: k is launched, so it needs a __global__ in front\n"},
        {"__global__ void k() { __shared__ int n = 0; }",
         ":2: error: shared memory takes no initial value: let a thread store it, before a barrier\n"},
        {"__global__ void k() { __shared__ float s[2][2]{}; }",
         ":2: error: shared memory takes no initial value: let a thread store it, before a barrier\n"},
        {"__global__ void k() {\n  extern __shared__ float s[];\n  int n = sizeof(s) / sizeof(s[0]); }",
         ":4: error: s has no size: the launch says how many bytes there are\n"},
        {"__global__ void k() { extern __shared__ alignas(16) char s[]; }",
         ":2: error: nvcc takes no alignas after extern: put it in front, or use __align__\n"},
        {"struct S { static __global__ void k(); };", ":2: error: a kernel cannot be a member function\n"},
        {"__global__ void k() {\n k<<<1, 2>>>(); }",
         ":3: error: a kernel cannot launch another one: nvcc takes that only with -rdc=true\n"},
        {"#define BEGIN <<<",
         ":2: error: a launch must be written in one piece, as kernel<<<grid, block>>>(arguments)\n"},
        {std::string("const char* s = \"\0\";", 20), ":1: error: this is not UTF-8 text: save it as UTF-8\n"},
    }));
    const auto made = translate("// a step\n" + source + "\n");
    CHECK(made.status != 0);
    CHECK(made.errors == "step.cu" + what);
}

TEST_CASE("the translator finds a complete launch and nothing else", "[translator]") {
    const auto [launch, call] = GENERATE(table<std::string, std::string>({
        {"k<<<1, 2>>>(3);", "simt::configured(SIMT_KERNEL(k), 1, 2)(3);"},
        {"k<< <1, 2>> >(3);", "simt::configured(SIMT_KERNEL(k), 1, 2)(3);"},
        {"if (x) ::a::k<4><<<1, 2>>>(3);", "if (x) simt::configured(SIMT_KERNEL(::a::k<4>), 1, 2)(3);"},
        {"if (x) (k)<<<1, 2>>>(3);", "if (x) simt::configured(SIMT_KERNEL((k)), 1, 2)(3);"},
        {"return t[i]<<<1, 2>>>(3);", "return simt::configured(SIMT_KERNEL(t[i]), 1, 2)(3);"},
        {"p->f(1).k<<<1, 2>>>(3);", "simt::configured(SIMT_KERNEL(p->f(1).k), 1, 2)(3);"},
        {"k<A<B<4>>, (5 > 4)><<<1, 2>>>(3);", "simt::configured(SIMT_KERNEL(k<A<B<4>>, (5 > 4)>), 1, 2)(3);"},
        {"k<n < 4><<<1, 2>>>(3);", "simt::configured(SIMT_KERNEL(k<n < 4>), 1, 2)(3);"},
        {"k<<<A<A<B<4>>>::v, n >> 2>>>(m >> 3);",
         "simt::configured(SIMT_KERNEL(k), A<A<B<4>>>::v, n >> 2)(m >> 3);"},
        {"k<<<1, 2>>>(NULL, f(NULL));", "simt::configured(SIMT_KERNEL(k), 1, 2)(nullptr, f(NULL));"},
        {"s << \"k\" << 'k' << 1'000 << R\"(\"k<<<)\";", "s << \"k\" << 'k' << 1'000 << R\"(\"k<<<)\";"},
    }));
    const std::string kernel = "template <bool b> __global__ void k(int n) {}\nvoid f() { ";
    CHECK_THAT(translate(kernel + launch + " }\n").text, ContainsSubstring("void f() { " + call + " }\n"));
}

TEST_CASE("the translator skips what is not compiled for an architecture of 900", "[translator]") {
    const auto [condition, refused] = GENERATE(table<std::string, bool>({
        {"#ifndef __CUDA_ARCH__", false},
        {"#if __CUDA_ARCH__ < 700 && defined(FAST)", false},
        {"#if defined(FAST) && (defined __CUDACC_RTC__)", false},
        {"#if 0", false},
        {"#ifdef __CUDA_ARCH__\n#else", false},
        {"#if 1\n#elif FAST", false},
        {"#ifndef __CUDA_ARCH__\n#elif FAST", true},
        {"#ifndef __CUDA_ARCH__\n#else", true},
        {"#ifdef __CUDACC__", true},
        {"#if FAST", true},
        {"#if !FAST", true},
        {"#if __CUDA_ARCH__ < 700 || FAST", true},
        {"#if !(__CUDA_ARCH__ < 700)", true},
        {"#if __CUDA_ARCH__ == 900", true},
    }));
    CAPTURE(condition);
    const auto made = translate(condition + "\nasm(\"\");\n#endif\n");
    CHECK((made.status != 0) == refused);
    CHECK((made.errors.find("inline PTX") != std::string::npos) == refused);
}

TEST_CASE("the translator reads the headers next to the step", "[translator]") {
    const std::map<std::string, std::string> beside{
        {"own/a.cuh", "#pragma once\n#include \"b.h\"\nvoid g() { k<<<1, 2>>>(); }"},
        {"own/b.h", "int b;\n"},
    };
    const auto made = translate("#include \"own/a.cuh\"  // mine\n#include \"kata.hpp\"\nint x;\n", beside);
    CHECK(made.errors == "");
    CHECK_THAT(made.dependencies, StartsWith("step.cpp: step.cu own/a.cuh own/b.h ") &&
                                      ContainsSubstring("/tokens.py ") && EndsWith("/translate.py\n"));
    CHECK_THAT(made.text,
               ContainsSubstring("#line 1 \"own/a.cuh\"\n\n#include \"own/b.h\"\n"
                                 "void g() { simt::configured(SIMT_KERNEL(k), 1, 2)(); }\n") &&
                   ContainsSubstring("#line 1 \"step.cu\"\n  // mine\n#include \"kata.hpp\"\nint x;\n"));

    const std::string plain = "#include \"own/b.h\"\n#include \"own/none.h\"\n";
    CHECK(translate(plain, beside).text == "#include \"simt/cuda.hpp\"\n#line 1 \"step.cu\"\n" + plain);

    const auto wrong = translate("#include \"own/c.h\"\n", {{"own/c.h", "\n\nasm(\"exit;\");\n"}});
    CHECK(wrong.status != 0);
    CHECK(wrong.errors ==
          "own/c.h:3: error: the CPU back end has no inline PTX: write that line in CUDA C++\n");

    const auto circle =
        translate("#include \"own/d.h\"\n",
                  {{"own/d.h", "#pragma once\n#include \"e.h\"\nvoid g() { k<<<1, 2>>>(); }\n"},
                   {"own/e.h", "#pragma once\n#include \"d.h\"\nint e;\n"}});
    CHECK(circle.errors == "");
    CHECK_THAT(circle.text, ContainsSubstring("\nint e;\n"));
}

TEST_CASE("the translator reads files with a byte order mark or in another encoding", "[translator]") {
    CHECK_THAT(translate("\xEF\xBB\xBFint x;").text, ContainsSubstring("\"\nint x;"));
    CHECK_THAT(translate("// f\xFCr\nint x;").text, ContainsSubstring("// f\xFCr\nint x;"));
}

TEST_CASE("the translator preserves comments, literals and line numbers", "[translator]") {
    const std::string source =
        "// asm(\"x\") and k<<<1, 2>>>()\n"
        "const char* s = \"texture<float> k<<<1, 2>>>()\"; const char c = '\"';\n"
        "void f() { k<g<int>, 3><<<dim3(1,  // one\n"
        "                               2),\n"
        "                          32>>>(a, b); }\n";
    const auto made = translate(source);
    CHECK(made.status == 0);
    CHECK(made.errors == "");
    CHECK_THAT(made.text, ContainsSubstring("#line 1 \"") &&
                              ContainsSubstring(
                                  "\n// asm(\"x\") and k<<<1, 2>>>()\n"
                                  "const char* s = \"texture<float> k<<<1, 2>>>()\"; const char c = "
                                  "'\"';\n"
                                  "void f() { simt::configured(SIMT_KERNEL(k<g<int>, 3>), dim3(1,  // one\n"
                                  "                               2),\n"
                                  "                          32)(a, b); }\n"));
}
