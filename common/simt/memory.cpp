// Device memory on the CPU back end: exact sizes, 256-byte alignment as on a GPU, a canary on either side.
#include "buffer.hpp"
#include "error.hpp"
#include "simt/scheduler.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

namespace simt {

namespace {

constexpr std::size_t canary_bytes = 256;
constexpr std::byte canary{0xC5};
constexpr const char* cuda_malloc = "cudaMalloc";  // the name of what a step has allocated

std::vector<Allocation>& table() {
    static std::vector<Allocation> table;
    return table;
}

Allocation* find(const void* pointer) {
    const auto a = reinterpret_cast<std::uintptr_t>(pointer);
    for (auto& allocation : table())
        if (allocation.range.begin == a) return &allocation;
    return nullptr;
}

/// Refuses what would run over the end of a buffer, and remembers what the host has written.
void host_reaches(const void* pointer, std::size_t bytes, bool writes) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    for (auto& a : table()) {
        if (!a.range.contains(address)) continue;
        if (bytes > a.range.end - address)
            throw kata::Error("copy refused: " + std::to_string(bytes) + " bytes at offset " +
                              std::to_string(address - a.range.begin) + " do not fit into \"" + a.name +
                              "\" of " + std::to_string(a.range.size()) + " bytes");
        a.written = a.written || writes;
    }
}

}  // namespace

const std::vector<Allocation>& allocations() { return table(); }

void* device_alloc(std::size_t bytes) { return kata::device::allocate(bytes, cuda_malloc, kata::poison); }
void device_free(void* pointer) {
    const auto* entry = pointer ? find(pointer) : nullptr;
    if (pointer && !entry)
        throw kata::Error("cudaFree refused: that is no pointer from cudaMalloc, or has been freed already");
    if (entry && entry->name != cuda_malloc)
        throw kata::Error("cudaFree refused: \"" + entry->name + "\" belongs to whoever called the step");
    kata::device::release(pointer);
}

void check_side(const char* direction, const void* address, std::size_t bytes, bool of_device) {
    const auto a = reinterpret_cast<std::uintptr_t>(address);
    const bool device = std::any_of(table().begin(), table().end(),
                                    [&](const auto& entry) { return entry.range.contains(a); });
    if (bytes > 0 && device != of_device)
        throw kata::Error(std::string("copy refused: cudaMemcpy is told to copy ") + direction + " the " +
                          (of_device ? "device, and that is memory of the host"
                                     : "host, and that is memory of the device"));
}

void copy_memory(void* to, const void* from, std::size_t bytes) {
    host_reaches(from, bytes, false);
    kata::device::upload(to, from, bytes);
}

void fill_memory(void* to, int value, std::size_t bytes) {
    host_reaches(to, bytes, true);
    std::memset(to, value, bytes);
}

void check_symbol(std::size_t size, std::size_t offset, std::size_t bytes) {
    if (offset > size || bytes > size - offset)
        throw kata::Error("copy refused: " + std::to_string(bytes) + " bytes at offset " +
                          std::to_string(offset) + " do not fit into a symbol of " + std::to_string(size) +
                          " bytes");
}

}  // namespace simt

namespace kata::device {

void* allocate(std::size_t bytes, std::string_view name, std::byte poison) {
    static std::uint64_t serial = 0;
    const auto whole = bytes + 2 * simt::canary_bytes;
    auto* base = static_cast<std::byte*>(::operator new (whole, std::align_val_t{256}, std::nothrow));
    if (!base)
        throw Error("no room for " + std::to_string(bytes) + " bytes of device memory for \"" +
                    std::string(name) + "\"");
    auto* data = base + simt::canary_bytes;
    std::fill(base, data, simt::canary);
    std::fill(data, data + bytes, poison);
    std::fill(data + bytes, base + whole, simt::canary);
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    simt::Allocation entry{{begin, begin + bytes}, std::string(name), false, ++serial};
    auto& table = simt::table();
    table.insert(std::upper_bound(table.begin(), table.end(), entry,
                                  [](const auto& a, const auto& b) { return a.range.begin < b.range.begin; }),
                 std::move(entry));
    return data;
}

void release(void* pointer) noexcept {
    if (!pointer) return;
    auto* entry = simt::find(pointer);
    if (!entry) return;
    simt::table().erase(simt::table().begin() + (entry - simt::table().data()));
    ::operator delete (static_cast<std::byte*>(pointer) - simt::canary_bytes, std::align_val_t{256});
}

void upload(void* to, const void* from, std::size_t bytes) {
    simt::host_reaches(to, bytes, true);
    if (bytes > 0) std::memmove(to, from, bytes);
}

void download(void* to, const void* from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
}

std::optional<std::string> damage(const void* pointer) {
    const auto* entry = simt::find(pointer);
    if (!entry) return std::nullopt;
    const auto* data = static_cast<const std::byte*>(pointer);
    const auto size = entry->range.size();
    const auto spoilt = [](std::byte b) { return b != simt::canary; };
    const auto name = "\"" + entry->name + "\" of " + std::to_string(size) + " bytes";
    if (const auto* at = std::find_if(data + size, data + size + simt::canary_bytes, spoilt);
        at != data + size + simt::canary_bytes)
        return "out of bounds: something was written " + std::to_string(at - (data + size)) +
               " bytes past the end of " + name;
    const auto* first = data - simt::canary_bytes;
    if (const auto* at = std::find_if(first, data, spoilt); at != data)
        return "out of bounds: something was written " + std::to_string(data - at) + " bytes before " + name;
    return std::nullopt;
}

}  // namespace kata::device
