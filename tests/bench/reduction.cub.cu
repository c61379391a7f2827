// CUB's reduction under the chapter's function.
#include "reduction.hpp"
#include "vendor.cuh"

#include <cub/device/device_reduce.cuh>

template <class T>
static void sum(const void* in, void* out, int n) {
    with_scratch([&](void* scratch, std::size_t& bytes) {
        return cub::DeviceReduce::Sum(scratch, bytes, static_cast<const T*>(in), static_cast<T*>(out), n);
    });
}

void reduce(void* in, void* out, int n, void*, kata::Operation operation) {
    if (operation.arithmetic == kata::Arithmetic::sum_of_double)
        sum<double>(in, out, n);
    else
        sum<float>(in, out, n);
}
