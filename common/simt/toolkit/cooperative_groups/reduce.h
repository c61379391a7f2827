// Reductions over the lanes of a group: in one instruction for 32-bit integers, as from sm_80 on, and by
// shuffles for everything else, in the order of NVIDIA's library.
#pragma once
#include "../cooperative_groups.h"
#include "scan.h"

namespace simt {

template <class Op, class T>
inline constexpr bool reduces = false;
template <class Op, class T>
inline constexpr Collective reduces_by = Collective::sync;
#define SIMT_REDUCES(Op, of_signed, of_unsigned)                                                           \
    template <class T>                                                                                     \
    inline constexpr bool reduces<cooperative_groups::Op<T>, T> = std::is_integral_v<T> && sizeof(T) <= 4; \
    template <class T>                                                                                     \
    inline constexpr Collective reduces_by<cooperative_groups::Op<T>, T> =                                 \
        std::is_signed_v<T> ? Collective::of_signed : Collective::of_unsigned;
SIMT_REDUCES(plus, sum, sum)
SIMT_REDUCES(less, least, least_unsigned)
SIMT_REDUCES(greater, most, most_unsigned)
SIMT_REDUCES(bit_and, all_bits, all_bits)
SIMT_REDUCES(bit_or, any_bit, any_bit)
SIMT_REDUCES(bit_xor, odd_bits, odd_bits)
#undef SIMT_REDUCES

}  // namespace simt

namespace cooperative_groups {

template <class T, class Op>
__device__ T reduce(const coalesced_group& group, T value, Op op, simt::Site site = simt::Site::here()) {
    const simt::InToolkit here;
    if constexpr (simt::reduces<Op, T>) {
        return static_cast<T>(simt::exchange(simt::reduces_by<Op, T>, Lanes::of(group),
                                             static_cast<unsigned>(value), 0, "reduce", site));
    } else {
        return group.shfl(inclusive_scan(group, value, op, site), group.size() - 1, site);
    }
}
template <unsigned Size, class Parent, class T, class Op>
__device__ T reduce(const thread_block_tile<Size, Parent>& group, T value, Op op,
                    simt::Site site = simt::Site::here()) {
    const simt::InToolkit here;
    if constexpr (simt::reduces<Op, T> && Size >= 16)
        return reduce(static_cast<const coalesced_group&>(group), value, op, site);
    for (unsigned lanes = Size / 2; lanes > 0; lanes /= 2)
        value = op(value, group.shfl_xor(value, lanes, site));
    return value;
}

}  // namespace cooperative_groups
