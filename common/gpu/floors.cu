#include "gpu/floors.hpp"

namespace {

constexpr int threads = 512, loads = 4, tile = threads * loads;

// Each thread has several loads in flight. The values must be used, or the compiler would remove the loads.
__global__ void read_all(const uint4* from, std::size_t count, unsigned* sink) {
    const std::size_t first = static_cast<std::size_t>(blockIdx.x) * tile + threadIdx.x;
    uint4 vectors[loads];
    for (int k = 0; k < loads; ++k) {
        const std::size_t i = first + static_cast<std::size_t>(k) * threads;
        vectors[k] = i < count ? from[i] : uint4{};
    }
    unsigned seen = 0;
    for (const uint4& v : vectors) seen += v.x ^ v.y ^ v.z ^ v.w;
    if (seen == 0x9E3779B9) *sink = seen;
}

}  // namespace

namespace kata::gpu {

[[gnu::visibility("default")]] void copy_bytes(void* to, const void* from, std::size_t bytes) {
    cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice);
}

[[gnu::visibility("default")]] void read_bytes(const void* from, std::size_t bytes, unsigned* sink) {
    const std::size_t vectors = bytes / sizeof(uint4);
    const auto blocks = static_cast<unsigned>((vectors + tile - 1) / tile);
    if (blocks > 0) read_all<<<blocks, threads>>>(static_cast<const uint4*>(from), vectors, sink);
}

}  // namespace kata::gpu
