// The vector types of CUDA C++, with CUDA's sizes and alignments.
#pragma once

#if defined(__CUDA__)
#pragma clang force_cuda_host_device begin
#endif
// clang-format off
// nvcc stores an assigned vector as one, even if the same expression makes it. g++ would construct it in place,
// component by component, and the meter would count each. It is a template so that the type stays trivially
// copyable.
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define SIMT_STORED_AS_ONE(name)                                                               \
    constexpr name& operator=(const name&) = default;                                          \
    template <class = void>                                                                    \
    [[gnu::always_inline]] constexpr name& operator=(name&& made) {                            \
        return *this = static_cast<const name&>(made);                                         \
    }
#else
#define SIMT_STORED_AS_ONE(name)
#endif
#define SIMT_VECTORS(T, name, bytes)                                                           \
    struct name##1 { T x; };                                                                   \
    struct alignas(2 * bytes) name##2 { T x, y; SIMT_STORED_AS_ONE(name##2) };                 \
    struct name##3 { T x, y, z; SIMT_STORED_AS_ONE(name##3) };                                 \
    struct alignas(4 * bytes > 16 ? 16 : 4 * bytes) name##4 {                                  \
        T x, y, z, w;                                                                          \
        SIMT_STORED_AS_ONE(name##4)                                                            \
    };                                                                                         \
    constexpr name##1 make_##name##1(T x) { return {x}; }                                      \
    constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }                              \
    constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                      \
    constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
// clang-format on
SIMT_VECTORS(signed char, char, 1)
SIMT_VECTORS(unsigned char, uchar, 1)
SIMT_VECTORS(short, short, 2)
SIMT_VECTORS(unsigned short, ushort, 2)
SIMT_VECTORS(int, int, 4)
SIMT_VECTORS(unsigned, uint, 4)
SIMT_VECTORS(long, long, 8)
SIMT_VECTORS(unsigned long, ulong, 8)
SIMT_VECTORS(long long, longlong, 8)
SIMT_VECTORS(unsigned long long, ulonglong, 8)
SIMT_VECTORS(float, float, 4)
SIMT_VECTORS(double, double, 8)
#undef SIMT_VECTORS
#undef SIMT_STORED_AS_ONE

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};
#if defined(__CUDA__)
#pragma clang force_cuda_host_device end
#endif
