// The address and the size of a variable of the device, as the host obtains them.
#include "kata.hpp"

__constant__ float weights[25];
__device__ int found;

void f(const float* filter) {
    void* address;
    size_t bytes;
    check(cudaGetSymbolAddress(&address, weights));
    check(cudaGetSymbolSize(&bytes, weights));
    check(cudaMemcpy(address, filter, bytes, cudaMemcpyDeviceToDevice));
    check(cudaGetSymbolAddress(&address, found));
    check(cudaMemset(address, 0, sizeof found));
}
