// wmma: a warp multiplies matrices of 16 x 16 elements, distributed over its lanes: in half and bfloat16,
// with 16 elements along K, and in tf32, with 8.
//
// CUDA leaves the distribution of elements to the hardware. Here it is that of mma.sync, which an H100 was
// seen to use for each type and layout. The memory requests of loads and stores are those in nvcc 13's
// machine code for sm_90:
// - elements of tf32, and float sums in column-major layout, one by one;
// - float sums in row-major layout, in pairs of neighbors;
// - 16-bit elements in pairs of neighbors in memory, whatever the layout, because a warp can transpose 8 x 8
//   of them in its registers. For factors in shared memory a single instruction, ldmatrix, loads four such
//   pairs; here they are four requests, with as many passes. Sums in half, stored in column-major layout, go
//   one by one here.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "simt/matrices.hpp"

#include <type_traits>
#include <utility>

namespace simt {

/// Every lane of the warp must make the call, with the same matrix.
template <class T>
__device__ __forceinline__ void come_together(const T* address, unsigned pitch, bool by_columns,
                                              const char* name, Site site) {
    const MatrixInMemory matrix{address, pitch, sizeof(T), by_columns};
    exchange(Collective::matrix, ~0u, reinterpret_cast<std::uintptr_t>(&matrix), 0, name, site);
}
SIMT_UNSEEN __device__ float as_tf32(float x) {
    return __builtin_bit_cast(float, __builtin_bit_cast(unsigned, x) & ~0x1fffu);
}

}  // namespace simt

namespace nvcuda::wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
namespace precision {
struct tf32 {};
}  // namespace precision
enum layout_t { mem_row_major, mem_col_major };

template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment {
    static constexpr bool is_sum = std::is_same_v<Use, accumulator>;
    static constexpr bool is_tf32 = std::is_same_v<T, precision::tf32>;
    static_assert(
        m == 16 && n == 16 && (is_sum ? k == 16 || k == 8 : k == (is_tf32 ? 8 : 16)),
        "the CPU back end multiplies 16 x 16 x 16 elements, and 16 x 16 x 8 of tf32: other shapes need "
        "a GPU");
    static_assert(
        is_sum ? std::is_same_v<T, float> || (std::is_same_v<T, half> && k == 16)
               : is_tf32 || simt::one_of<T, half, nv_bfloat16>,
        "the CPU back end multiplies half, bfloat16 and tf32, and adds in float or, of half, in half");
    static_assert(is_sum ? std::is_void_v<Layout> : simt::one_of<Layout, row_major, col_major>,
                  "a fragment of matrix_a or matrix_b is row_major or col_major, and of accumulator neither");

  public:
    using element_type = T;
    using storage_element_type = std::conditional_t<is_tf32, float, T>;
    /// For a and b in half, a lane holds each of its elements twice.
    static constexpr int num_elements = is_sum ? 8 : is_tf32 ? 4 : std::is_same_v<T, half> ? 16 : 8;
    static constexpr int num_storage_elements = num_elements;
    alignas(8) storage_element_type x[num_elements];

    static constexpr int simt_width = is_tf32 ? 1 : 2, simt_distinct = is_tf32 ? 4 : 8;
    __host__ __device__ __forceinline__ static constexpr simt::Place simt_place(int lane, int element) {
        return std::is_same_v<Use, matrix_b> ? simt::place_of_b(lane, element, simt_width)
                                             : simt::place_of(lane, element, simt_width);
    }
};

/// Rounds to 10 fraction bits, ties away from 0.
SIMT_UNSEEN __device__ float __float_to_tf32(float x) {
    const auto bits = __builtin_bit_cast(unsigned, x);
    if (__builtin_isnan(x)) return __builtin_bit_cast(float, 0x7fffffffu);  // stays NaN after truncation
    return __builtin_isinf(x) ? x : __builtin_bit_cast(float, (bits + 0x1000) & ~0x1fffu);
}

template <class Use, int m, int n, int k, class T, class Layout>
SIMT_UNSEEN __device__ void fill_fragment(
    fragment<Use, m, n, k, T, Layout>& f,
    const typename fragment<Use, m, n, k, T, Layout>::storage_element_type& value) {
    for (int i = 0; i < f.num_elements; ++i) f.x[i] = value;
}

}  // namespace nvcuda::wmma

namespace simt {

/// Calls each(0), each(step), … below `end` without a loop: loops and branches here would be counted as the
/// student's.
template <int end, int step, class Each>
__device__ __forceinline__ void in_one_piece(Each each) {
    [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) { (each(i * step), ...); }
    (std::make_integer_sequence<int, end / step>());
}

template <class T>
struct alignas(2 * sizeof(T)) Neighbours {
    T first, second;
};

/// 16-bit elements, at any address.
template <class Fragment, class T>
SIMT_UNSEEN __device__ void take(Fragment& f, const T* from, unsigned pitch, bool transposed) {
    for (int i = 0; i < Fragment::num_elements; ++i) {
        const auto place = Fragment::simt_place(lane(), i % Fragment::simt_distinct);
        f.x[i] = from[transposed ? place.column * pitch + place.row : place.row * pitch + place.column];
    }
}

template <class Fragment, class T>
__device__ __forceinline__ void load_fragment(Fragment& f, const T* from, unsigned pitch, bool transposed) {
    constexpr int count = Fragment::simt_distinct, width = Fragment::simt_width;
    constexpr bool narrow = sizeof(T) == 2;
    const int at = lane();
    if (width == 2 && (narrow || !transposed)) {
        in_one_piece<count, 2>([&](int i) __attribute__((always_inline)) {
            const auto place = Fragment::simt_place(at, i);
            const auto two = *reinterpret_cast<const Neighbours<T>*>(&from[place.row * pitch + place.column]);
            f.x[i] = two.first, f.x[i + 1] = two.second;
        });
    } else {
        in_one_piece<count, 1>([&](int i) __attribute__((always_inline)) {
            const auto place = Fragment::simt_place(at, i);
            f.x[i] = from[transposed ? place.column * pitch + place.row : place.row * pitch + place.column];
        });
    }
    if (narrow) take(f, from, pitch, transposed);
}

template <class Fragment, class T>
__device__ __forceinline__ void store_fragment(T* to, const Fragment& f, unsigned pitch, bool transposed) {
    const int at = lane();
    if (transposed) {
        in_one_piece<8, 1>([&](int i) __attribute__((always_inline)) {
            const auto place = place_of(at, i, 2);
            to[place.column * pitch + place.row] = f.x[i];
        });
    } else {
        in_one_piece<8, 2>([&](int i) __attribute__((always_inline)) {
            const auto place = place_of(at, i, 2);
            *reinterpret_cast<Neighbours<T>*>(&to[place.row * pitch + place.column]) =
                *reinterpret_cast<const Neighbours<T>*>(&f.x[i]);
        });
    }
}

template <class Fragment>
SIMT_UNSEEN __device__ void widen(const Fragment& f, float (&to)[8]) {
    for (int i = 0; i < Fragment::simt_distinct; ++i) {
        if constexpr (Fragment::simt_width == 1)
            to[i] = as_tf32(f.x[i]);
        else
            to[i] = static_cast<float>(f.x[i]);
    }
}

template <class Fragment>
SIMT_UNSEEN __device__ void narrow(const float (&from)[8], Fragment& f) {
    for (int i = 0; i < 8; ++i) f.x[i] = from[i];
}

}  // namespace simt

namespace nvcuda::wmma {

template <int m, int n, int k, class T, class Layout>
__device__ __forceinline__ void load_matrix_sync(
    fragment<matrix_a, m, n, k, T, Layout>& f,
    const typename fragment<matrix_a, m, n, k, T, Layout>::storage_element_type* from, unsigned pitch,
    simt::Site site = simt::Site::here()) {
    simt::come_together(from, pitch, false, "load_matrix_sync", site);
    simt::load_fragment(f, from, pitch, std::is_same_v<Layout, col_major>);
}
/// b is distributed like its transpose.
template <int m, int n, int k, class T, class Layout>
__device__ __forceinline__ void load_matrix_sync(
    fragment<matrix_b, m, n, k, T, Layout>& f,
    const typename fragment<matrix_b, m, n, k, T, Layout>::storage_element_type* from, unsigned pitch,
    simt::Site site = simt::Site::here()) {
    simt::come_together(from, pitch, false, "load_matrix_sync", site);
    simt::load_fragment(f, from, pitch, std::is_same_v<Layout, row_major>);
}
template <int m, int n, int k, class T>
__device__ __forceinline__ void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const T* from,
                                                 unsigned pitch, layout_t layout,
                                                 simt::Site site = simt::Site::here()) {
    simt::come_together(from, pitch, layout == mem_col_major, "load_matrix_sync", site);
    simt::load_fragment(f, from, pitch, layout == mem_col_major);
}

template <int m, int n, int k, class T>
__device__ __forceinline__ void store_matrix_sync(T* to, const fragment<accumulator, m, n, k, T>& f,
                                                  unsigned pitch, layout_t layout,
                                                  simt::Site site = simt::Site::here()) {
    simt::come_together(to, pitch, layout == mem_col_major, "store_matrix_sync", site);
    simt::store_fragment(to, f, pitch, layout == mem_col_major);
}

template <int m, int n, int k, class D, class T, class LayoutA, class LayoutB, class C>
__device__ __forceinline__ void mma_sync(fragment<accumulator, m, n, k, D>& d,
                                         const fragment<matrix_a, m, n, k, T, LayoutA>& a,
                                         const fragment<matrix_b, m, n, k, T, LayoutB>& b,
                                         const fragment<accumulator, m, n, k, C>& c,
                                         simt::Site site = simt::Site::here()) {
    static_assert(std::is_same_v<T, half> || (std::is_same_v<C, float> && std::is_same_v<D, float>),
                  "only products of halves are added in half");
    float of_a[8], of_b[8], sum[8];
    simt::widen(a, of_a);
    simt::widen(b, of_b);
    simt::widen(c, sum);
    const simt::Product product{k, a.simt_width, of_a, of_b, sum, sum};
    simt::exchange(simt::Collective::multiply, ~0u, reinterpret_cast<std::uintptr_t>(&product), 0, "mma_sync",
                   site);
    simt::narrow(sum, d);
}

}  // namespace nvcuda::wmma
