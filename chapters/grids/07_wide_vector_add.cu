// 07 Wide vector add: a thread adds four elements, which it loads and stores as one float4. Beyond the
// document. Changed from 01: 16 bytes an instruction instead of 4, so that a thread has four times as many
// bytes in flight, and a quarter of the threads and blocks is enough. The same bytes and sectors.
#include "grids.cuh"

constexpr int block = 256;  // threads
constexpr int wide = 4;     // elements of a thread

__global__ void wide_add(const float* a, const float* b, float* c, int n) {
    // kata: begin
    // Thread i takes the elements from wide * i on. If there are four of them, they are a float4 in each
    // array, which reinterpret_cast<const float4*>(a) shows, loaded at once. float4 has the members x, y, z
    // and w, and make_float4(x, y, z, w) makes one, to be stored at once as well. If fewer are left, take
    // them one by one.
    kata::open();
    // kata: end
}

void vector_add(const float* a, const float* b, float* c, int n) {
    // kata: begin
    // As many blocks as it takes for a thread for every four elements, rounded up. No elements, no launch.
    // Also required: any n from 0 to the largest int; wide * i + wide may exceed it.
    kata::open();
    // kata: end
}
