#include "gpu/floors.hpp"

#include <algorithm>

namespace {

constexpr int threads = 512, loads = 4;

// Each thread has several loads under way. What is read must come to something, or nothing would be read.
__global__ void read_all(const uint4* from, std::size_t count, unsigned* sink) {
    const std::size_t grid = static_cast<std::size_t>(gridDim.x) * threads;
    std::size_t i = static_cast<std::size_t>(blockIdx.x) * threads + threadIdx.x;
    unsigned seen = 0;
    for (; i + (loads - 1) * grid < count; i += loads * grid) {
        uint4 vectors[loads];
        for (int k = 0; k < loads; ++k) vectors[k] = from[i + k * grid];
        for (const uint4& v : vectors) seen += v.x ^ v.y ^ v.z ^ v.w;
    }
    for (; i < count; i += grid) seen += from[i].x ^ from[i].y ^ from[i].z ^ from[i].w;
    if (seen == 0x9E3779B9) *sink = seen;
}

int multiprocessors() {
    int count = 0;
    cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);
    return count;
}

}  // namespace

namespace kata::gpu {

[[gnu::visibility("default")]] void copy_bytes(void* to, const void* from, std::size_t bytes) {
    cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice);
}

[[gnu::visibility("default")]] void read_bytes(const void* from, std::size_t bytes, unsigned* sink) {
    static const int most_blocks = 4 * multiprocessors();
    const std::size_t vectors = bytes / sizeof(uint4);
    const auto blocks = std::min<std::size_t>(most_blocks, (vectors + threads - 1) / threads);
    if (blocks > 0)
        read_all<<<static_cast<unsigned>(blocks), threads>>>(static_cast<const uint4*>(from), vectors, sink);
}

}  // namespace kata::gpu
