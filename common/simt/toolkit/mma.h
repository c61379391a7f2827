// wmma: a warp multiplies matrices of 16 x 16 elements, of which each lane holds some. Of half and bfloat16,
// with 16 elements along K, and of tf32, with 8.
//
// Where a lane's elements lie is the hardware's affair; here they lie as those of mma.sync do, and are loaded
// and stored a word at a time.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "simt/matrices.hpp"

namespace simt {

/// Every lane of the warp has to come, with the same address.
template <class T>
__device__ void come_together(const T* address, unsigned pitch, const char* name, Site site) {
    const auto same =
        exchange(Collective::match, ~0u, reinterpret_cast<std::uintptr_t>(address), 0, name, site);
    if (same != ~0u || reinterpret_cast<std::uintptr_t>(address) % 32 != 0 || pitch * sizeof(T) % 16 != 0)
        bad_matrix(name, site);
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
    static_assert(m == 16 && n == 16 && (is_sum ? k == 16 || k == 8 : k == (is_tf32 ? 8 : 16)),
                  "the CPU back end multiplies 16 x 16 x 16 elements, and 16 x 16 x 8 of tf32");
    static_assert(is_sum ? simt::one_of<T, float, half> : is_tf32 || simt::one_of<T, half, nv_bfloat16>,
                  "the CPU back end multiplies half, bfloat16 and tf32, and adds in float or half");

  public:
    using element_type = T;
    using storage_element_type = std::conditional_t<is_tf32, float, T>;
    /// Of a and b in half, a lane has each of its elements twice.
    static constexpr int num_elements = is_sum ? 8 : is_tf32 ? 4 : std::is_same_v<T, half> ? 16 : 8;
    static constexpr int num_storage_elements = num_elements;
    storage_element_type x[num_elements];

    static constexpr int simt_width = is_tf32 ? 1 : 2, simt_distinct = is_tf32 ? 4 : 8;
};

/// Rounds to 10 bits behind the point, away from 0 where it lies in the middle.
SIMT_UNSEEN __device__ float __float_to_tf32(float x) {
    const auto bits = __builtin_bit_cast(unsigned, x);
    return __builtin_isfinite(x) ? __builtin_bit_cast(float, (bits + 0x1000) & ~0x1fffu) : x;
}

template <class Use, int m, int n, int k, class T, class Layout>
__device__ void fill_fragment(fragment<Use, m, n, k, T, Layout>& f,
                              const typename fragment<Use, m, n, k, T, Layout>::storage_element_type& value) {
#pragma GCC unroll 16
    for (int i = 0; i < f.num_elements; ++i) f.x[i] = value;
}

}  // namespace nvcuda::wmma

namespace simt {

/// Calls each(element, offset in memory), or for two that lie side by side each(element, offset) of the first
/// with `pair`. `transposed`: the rows of a fragment's places are columns of the matrix.
template <int distinct, int width, class Single, class Pair>
__device__ __forceinline__ void each_place(unsigned pitch, bool transposed, Single single, Pair pair) {
    const int at = lane();
#pragma GCC unroll 16
    for (int i = 0; i < distinct; i += width) {
        const auto place = place_of(at, i, width);
        if (width == 2 && !transposed) {
            pair(i, place.row * pitch + place.column);
        } else {
#pragma GCC unroll 2
            for (int j = 0; j < width; ++j)
                single(i + j, transposed ? (place.column + j) * pitch + place.row
                                         : place.row * pitch + place.column + j);
        }
    }
}

template <class T>
struct alignas(2 * sizeof(T)) Neighbours {
    T first, second;
};

template <class Fragment, class T>
__device__ __forceinline__ void load_fragment(Fragment& f, const T* from, unsigned pitch, bool transposed) {
    each_place<Fragment::simt_distinct, Fragment::simt_width>(
        pitch, transposed, [&](int i, unsigned at) { f.x[i] = from[at]; },
        [&](int i, unsigned at) {
            const auto two = *reinterpret_cast<const Neighbours<T>*>(&from[at]);
            f.x[i] = two.first, f.x[i + 1] = two.second;
        });
#pragma GCC unroll 16
    for (int i = Fragment::simt_distinct; i < Fragment::num_elements; ++i)
        f.x[i] = f.x[i - Fragment::simt_distinct];
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

}  // namespace simt

namespace nvcuda::wmma {

template <int m, int n, int k, class T, class Layout>
__device__ void load_matrix_sync(
    fragment<matrix_a, m, n, k, T, Layout>& f,
    const typename fragment<matrix_a, m, n, k, T, Layout>::storage_element_type* from, unsigned pitch,
    simt::Site site = simt::Site::here()) {
    simt::come_together(from, pitch, "load_matrix_sync", site);
    simt::load_fragment(f, from, pitch, std::is_same_v<Layout, col_major>);
}
/// The places of b are those of its transpose.
template <int m, int n, int k, class T, class Layout>
__device__ void load_matrix_sync(
    fragment<matrix_b, m, n, k, T, Layout>& f,
    const typename fragment<matrix_b, m, n, k, T, Layout>::storage_element_type* from, unsigned pitch,
    simt::Site site = simt::Site::here()) {
    simt::come_together(from, pitch, "load_matrix_sync", site);
    simt::load_fragment(f, from, pitch, std::is_same_v<Layout, row_major>);
}
template <int m, int n, int k, class T>
__device__ void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const T* from, unsigned pitch,
                                 layout_t layout, simt::Site site = simt::Site::here()) {
    simt::come_together(from, pitch, "load_matrix_sync", site);
    simt::load_fragment(f, from, pitch, layout == mem_col_major);
}

template <int m, int n, int k, class T>
__device__ void store_matrix_sync(T* to, const fragment<accumulator, m, n, k, T>& f, unsigned pitch,
                                  layout_t layout, simt::Site site = simt::Site::here()) {
    simt::come_together(to, pitch, "store_matrix_sync", site);
    simt::each_place<8, 2>(
        pitch, layout == mem_col_major, [&](int i, unsigned at) { to[at] = f.x[i]; },
        [&](int i, unsigned at) {
            *reinterpret_cast<simt::Neighbours<T>*>(&to[at]) = simt::Neighbours<T>{f.x[i], f.x[i + 1]};
        });
}

template <int m, int n, int k, class D, class T, class LayoutA, class LayoutB, class C>
__device__ void mma_sync(fragment<accumulator, m, n, k, D>& d,
                         const fragment<matrix_a, m, n, k, T, LayoutA>& a,
                         const fragment<matrix_b, m, n, k, T, LayoutB>& b,
                         const fragment<accumulator, m, n, k, C>& c, simt::Site site = simt::Site::here()) {
    static_assert(std::is_same_v<T, half> || (std::is_same_v<C, float> && std::is_same_v<D, float>),
                  "only products of halves are added in half");
    float of_a[8], of_b[8], sum[8];
    simt::widen(a, of_a);
    simt::widen(b, of_b);
    simt::widen(c, sum);
    const simt::Product product{k, a.simt_width, of_a, of_b, sum, sum};
    simt::exchange(simt::Collective::multiply, ~0u, reinterpret_cast<std::uintptr_t>(&product), 0, "mma_sync",
                   site);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) d.x[i] = sum[i];
}

}  // namespace nvcuda::wmma
