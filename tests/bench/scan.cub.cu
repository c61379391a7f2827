// CUB's scan under the chapter's function.
#include "scan.hpp"
#include "vendor.cuh"

#include <cub/device/device_scan.cuh>

template <class T>
static void whole(const void* in, void* out, int n, scan::Kind kind) {
    const auto* const from = static_cast<const T*>(in);
    auto* const to = static_cast<T*>(out);
    with_scratch([&](void* scratch, std::size_t& bytes) {
        return kind == scan::Kind::inclusive ? cub::DeviceScan::InclusiveSum(scratch, bytes, from, to, n)
                                             : cub::DeviceScan::ExclusiveSum(scratch, bytes, from, to, n);
    });
}

void scan_whole(const void* in, void* out, int n, scan::Kind kind, void*, kata::Operation operation) {
    if (operation.arithmetic == kata::Arithmetic::sum_of_int)
        whole<int>(in, out, n, kind);
    else
        whole<float>(in, out, n, kind);
}
