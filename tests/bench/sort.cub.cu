// CUB's merge and its radix sort under the chapter's functions. A pair is a number of 64 bits whose lower
// half is the key: sorted by these bits alone, the upper half comes along.
#include "sort.hpp"
#include "vendor.cuh"

#include <cub/device/device_merge.cuh>
#include <cub/device/device_radix_sort.cuh>

struct BySmallerKey {
    __device__ bool operator()(const auto& x, const auto& y) const { return key(x) < key(y); }

  private:
    __device__ static auto key(sort::Pair x) { return x.key; }
    __device__ static auto key(auto x) { return x; }
};

template <class T>
static void merged(const void* a, int m, const void* b, int n, void* out) {
    with_scratch([&](void* scratch, std::size_t& bytes) {
        return cub::DeviceMerge::MergeKeys(scratch, bytes, static_cast<const T*>(a), m,
                                           static_cast<const T*>(b), n, static_cast<T*>(out), BySmallerKey{});
    });
}

void merge_lists(const void* a, int m, const void* b, int n, void* out, sort::Type type) {
    if (type == sort::Type::keys_of_32_bits)
        merged<unsigned>(a, m, b, n, out);
    else if (type == sort::Type::keys_of_64_bits)
        merged<unsigned long long>(a, m, b, n, out);
    else
        merged<sort::Pair>(a, m, b, n, out);
}

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
