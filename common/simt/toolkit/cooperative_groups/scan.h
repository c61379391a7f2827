// Prefix sums over the lanes of a group, in the order of NVIDIA's library, which doubles the distance in each
// step.
#pragma once
#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class Group, class T, class Op>
__device__ T inclusive_scan(const Group& group, T value, Op op, simt::Site site = simt::Site::here()) {
    const simt::InToolkit here;
    for (unsigned distance = 1; distance < group.size(); distance *= 2) {
        const T before = group.shfl_up(value, distance, site);
        if (distance <= group.thread_rank()) value = op(value, before);
    }
    return value;
}
template <class Group, class T>
__device__ T inclusive_scan(const Group& group, T value, simt::Site site = simt::Site::here()) {
    return inclusive_scan(group, value, plus<T>{}, site);
}

/// The first lane returns T{}, whatever the operator.
template <class Group, class T, class Op>
__device__ T exclusive_scan(const Group& group, T value, Op op, simt::Site site = simt::Site::here()) {
    const simt::InToolkit here;
    const T all = inclusive_scan(group, value, op, site);
    if constexpr (std::is_same_v<Op, plus<T>> && std::is_integral_v<T>) {
        return all - value;
    } else {
        const T before = group.shfl_up(all, 1, site);
        return group.thread_rank() == 0 ? T{} : before;
    }
}
template <class Group, class T>
__device__ T exclusive_scan(const Group& group, T value, simt::Site site = simt::Site::here()) {
    return exclusive_scan(group, value, plus<T>{}, site);
}

}  // namespace cooperative_groups
