// CUB's radix sort under the chapter's function. A pair is a number of 64 bits whose lower half is the key:
// sorted by these bits alone, the upper half comes along.
#include "sort.hpp"
#include "vendor.cuh"

#include <cub/device/device_radix_sort.cuh>

template <class T>
static void by_bits(const void* in, void* out, int n, int bits) {
    with_scratch([&](void* scratch, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortKeys(scratch, bytes, static_cast<const T*>(in), static_cast<T*>(out),
                                              n, 0, bits);
    });
}

void sort_elements(const void* in, void* out, int n, void*, sort::Type type) {
    if (type == sort::Type::keys_of_32_bits)
        by_bits<unsigned>(in, out, n, 32);
    else
        by_bits<unsigned long long>(in, out, n, type == sort::Type::keys_of_64_bits ? 64 : 32);
}
