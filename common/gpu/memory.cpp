#include "buffer.hpp"
#include "error.hpp"
#include "gpu/device.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

namespace kata::device {

namespace {

constexpr std::size_t canary_bytes = 256;  // keeps the alignment of cudaMalloc
using Canary = std::array<std::byte, canary_bytes>;

struct Allocation {
    std::string name;
    std::size_t bytes;
    Canary canary;
};

std::map<const void*, Allocation>& allocations() {
    static std::map<const void*, Allocation> all;
    return all;
}

/// Different for every buffer: a kernel that copies one element too many must not copy a canary onto an equal
/// one.
Canary fresh_canary() {
    static std::uint64_t state = 0;
    Canary canary;
    std::generate(canary.begin(), canary.end(), [] {
        state = 6364136223846793005 * state + 1442695040888963407;
        return static_cast<std::byte>(state >> 56);
    });
    return canary;
}

std::byte* front(void* data) { return static_cast<std::byte*>(data) - canary_bytes; }
const std::byte* front(const void* data) { return static_cast<const std::byte*>(data) - canary_bytes; }

std::string gib(std::size_t bytes) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f GiB", static_cast<double>(bytes) / (1 << 30));
    return text;
}

void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, const char* failed) {
    require_device();
    gpu::check(cudaMemcpy(to, from, bytes, kind), failed);
}

}  // namespace

void* allocate(std::size_t bytes, std::string_view name, std::byte poison) {
    require_device();
    void* base = nullptr;
    const cudaError_t error = cudaMalloc(&base, bytes + 2 * canary_bytes);
    if (error == cudaErrorMemoryAllocation) {
        std::size_t available = 0, total = 0;
        cudaMemGetInfo(&available, &total);
        gpu::fail(error, "no room for " + gib(bytes) + " of \"" + std::string(name) + "\"",
                  gib(available) + " of the GPU's " + gib(total) +
                      " are free: use a smaller size, or stop other programs there");
    }
    gpu::check(error, "no memory for \"" + std::string(name) + "\"");

    std::byte* data = static_cast<std::byte*>(base) + canary_bytes;
    const Canary canary = fresh_canary();
    upload(front(data), canary.data(), canary_bytes);
    upload(data + bytes, canary.data(), canary_bytes);
    gpu::check(cudaMemset(data, std::to_integer<int>(poison), bytes), "a buffer could not be filled");
    allocations().emplace(data, Allocation{std::string(name), bytes, canary});
    return data;
}

void release(void* data) noexcept {
    if (data == nullptr) return;
    allocations().erase(data);
    if (!gpu::lost()) cudaFree(front(data));  // waits for kernels: never returns if the device is lost
}

void upload(void* to, const void* from, std::size_t bytes) {
    copy(to, from, bytes, cudaMemcpyHostToDevice, "the copy to the GPU failed");
}

void repeat(void* to, std::size_t bytes, std::span<const std::byte> period) {
    for (std::size_t at = 0; at < bytes; at += period.size())
        upload(static_cast<std::byte*>(to) + at, period.data(), std::min(period.size(), bytes - at));
}

void download(void* to, const void* from, std::size_t bytes) {
    copy(to, from, bytes, cudaMemcpyDeviceToHost, "the copy from the GPU failed");
}

std::optional<std::string> damage(const void* data) {
    const Allocation& buffer = allocations().at(data);
    const std::string out_of_bounds = "out of bounds: something was written ";
    const std::string name = "\"" + buffer.name + "\" of " + std::to_string(buffer.bytes) + " bytes";
    Canary found;
    download(found.data(), static_cast<const std::byte*>(data) + buffer.bytes, canary_bytes);
    const auto behind = std::mismatch(found.begin(), found.end(), buffer.canary.begin()).first;
    if (behind != found.end())
        return out_of_bounds + std::to_string(behind - found.begin()) + " bytes past the end of " + name;
    download(found.data(), front(data), canary_bytes);
    const auto ahead = std::mismatch(found.rbegin(), found.rend(), buffer.canary.rbegin()).first;
    if (ahead != found.rend())
        return out_of_bounds + std::to_string(ahead - found.rbegin() + 1) + " bytes before " + name;
    return std::nullopt;
}

}  // namespace kata::device
