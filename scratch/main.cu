#include "v.cuh"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
std::vector<V>& all() { static std::vector<V> v; return v; }
#define C(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { printf("%s: %s\n", #x, cudaGetErrorString(e_)); exit(1); } } while (0)
__global__ void fill(unsigned* a, size_t n, unsigned seed) { for (size_t i = blockIdx.x * 256ull + threadIdx.x; i < n; i += gridDim.x * 256ull) { unsigned x = (unsigned)i * 2654435761u + seed; x ^= x >> 15; a[i] = x & 0x3fffffffu; } }
__global__ void checkk(const unsigned* in, const unsigned* out, int rows, int columns, unsigned long long* bad) {
    size_t n = (size_t)rows * columns;
    for (size_t i = blockIdx.x * 256ull + threadIdx.x; i < n; i += gridDim.x * 256ull) { size_t r = i / columns, c = i % columns; if (in[i] != out[c * rows + r]) atomicAdd(bad, 1ull); }
}
static double med(std::vector<double> v) { std::sort(v.begin(), v.end()); return v[v.size() / 2]; }
using Geam = void (*)(const float*, float*, int, int);
int main(int argc, char** argv) {
    const int rounds = argc > 1 ? atoi(argv[1]) : 7; const char* csv = argc > 2 ? argv[2] : "/dev/null"; const char* only = argc > 3 ? argv[3] : "";
    Geam geam = nullptr;
    if (void* h = dlopen("./geam.so", RTLD_NOW)) geam = (Geam)dlsym(h, "geam"); else printf("no cublas: %s\n", dlerror());
    struct S { int r, c, reps; } shapes[] = {{16383, 16383, 2}, {8191, 8191, 6}, {8191, 32768, 2}, {16384, 16384, 2}, {8192, 8192, 6}, {4096, 4096, 16}, {16381, 16382, 2}, {32768, 32768, 1}, {512, 512, 50}, {8192, 8191, 6}, {65535, 1033, 8}, {129, 1000003, 4}, {64, 1048576, 8}, {3, 10000000, 4}};
    auto vs = all();
    if (geam) vs.insert(vs.begin(), V{"cublas", geam, false});
    FILE* f = fopen(csv, "w"); fprintf(f, "case,variant,ms,of_copy,right\n");
    // correctness at small shapes
    float *a, *b, *a2, *b2; unsigned long long* bad; size_t cap = 1ull << 29;
    size_t big = 2 * cap; (void)big;
    C(cudaMalloc(&a, 4 * (cap + 64) * 2)); C(cudaMalloc(&b, 4 * (cap + 64) * 2)); C(cudaMalloc(&bad, 8));
    std::vector<bool> ok(vs.size(), true);
    int sm[][2] = {{1, 1}, {5, 3}, {33, 31}, {64, 64}, {75, 70}, {255, 321}, {321, 255}, {254, 321}, {253, 130}, {256, 333}, {129, 256}, {1, 1000}, {1000, 1}, {1001, 1003}, {1003, 1001}, {68, 20}, {1022, 1022}};
    for (auto& s : sm) for (size_t v = 0; v < vs.size(); ++v) {
        if (vs[v].even_only && (s[0] % 4 || s[1] % 4)) continue;
        size_t n = (size_t)s[0] * s[1];
        fill<<<64, 256>>>((unsigned*)a, n, s[0] + v); C(cudaMemset(b, 0xff, 4 * n + 256)); C(cudaMemset(bad, 0, 8));
        vs[v].run(a, b, s[0], s[1]); checkk<<<64, 256>>>((unsigned*)a, (unsigned*)b, s[0], s[1], bad);
        unsigned long long k; C(cudaMemcpy(&k, bad, 8, cudaMemcpyDeviceToHost)); unsigned tail[64]; C(cudaMemcpy(tail, b + n, 256, cudaMemcpyDeviceToHost));
        for (unsigned t : tail) if (t != 0xffffffffu) k += 1000000;
        if (k && ok[v]) { ok[v] = false; printf("WRONG %s %dx%d: %llu\n", vs[v].name, s[0], s[1], k); }
    }
    cudaEvent_t e0, e1; cudaEventCreate(&e0); cudaEventCreate(&e1);
    for (auto& s : shapes) {
        std::string name = std::to_string(s.r) + "x" + std::to_string(s.c);
        if (*only && !strstr(only, name.c_str())) continue;
        size_t n = (size_t)s.r * s.c; int copies = std::max<size_t>(2, std::min<size_t>(8, (600ull << 20) / (8 * n) + 1));
        size_t pitch = (n + 63) / 64 * 64; if (pitch * copies > 2 * (cap + 64)) copies = 1;
        fill<<<1320, 256>>>((unsigned*)a, pitch * copies, 7);
        std::vector<std::vector<double>> t(vs.size()), q(vs.size()); std::vector<double> ct;
        for (size_t v = 0; v < vs.size(); ++v) {
            if (vs[v].even_only && (s.r % 4 || s.c % 4)) continue;
            C(cudaMemsetAsync(b, 0xff, 4 * n)); C(cudaMemset(bad, 0, 8)); vs[v].run(a, b, s.r, s.c); checkk<<<1320, 256>>>((unsigned*)a, (unsigned*)b, s.r, s.c, bad);
            unsigned long long k; C(cudaMemcpy(&k, bad, 8, cudaMemcpyDeviceToHost)); if (k) { ok[v] = false; printf("WRONG %s %s: %llu\n", vs[v].name, name.c_str(), k); }
        }
        const auto time = [&](auto&& go) { go(0 % copies); C(cudaEventRecord(e0)); for (int i = 1; i <= s.reps; ++i) go(i % copies); C(cudaEventRecord(e1)); C(cudaEventSynchronize(e1)); float ms; C(cudaEventElapsedTime(&ms, e0, e1)); return ms / s.reps; };
        const auto copy = [&] { return time([&](int i) { C(cudaMemcpyAsync(b + i * pitch, a + i * pitch, 4 * n, cudaMemcpyDeviceToDevice)); }); };
        for (int r = 0; r < rounds; ++r) for (size_t v = 0; v < vs.size(); ++v) {
            if (vs[v].even_only && (s.r % 4 || s.c % 4)) continue;
            const double c = copy(), m = time([&](int i) { vs[v].run(a + i * pitch, b + i * pitch, s.r, s.c); });
            ct.push_back(c); t[v].push_back(m); q[v].push_back(c / m);
        }
        printf("%s copy %.4f ms\n", name.c_str(), med(ct)); fprintf(f, "%s,copy,%.5f,1,1\n", name.c_str(), med(ct));
        std::vector<std::pair<double, size_t>> o;
        for (size_t v = 0; v < vs.size(); ++v) if (!t[v].empty()) { fprintf(f, "%s,%s,%.5f,%.4f,%d\n", name.c_str(), vs[v].name, med(t[v]), med(q[v]), (int)ok[v]); o.push_back({-med(q[v]), v}); }
        fflush(f); std::sort(o.begin(), o.end());
        for (size_t i = 0; i < o.size(); ++i) if (i < 5 || strstr(vs[o[i].second].name, "old") || !strncmp(vs[o[i].second].name, "cub", 3) || strstr(vs[o[i].second].name, "BASE")) printf("  %.3f %s%s\n", -o[i].first, vs[o[i].second].name, ok[o[i].second] ? "" : " WRONG");
    }
    C(cudaDeviceSynchronize());
}
