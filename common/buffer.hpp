// Memory of the device that runs the steps, one interface for both back ends (simt/memory.cpp,
// gpu/memory.cpp).
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kata {

namespace device {

/// Exactly `bytes` of device memory, 256-byte aligned, filled with `poison` and marked as never written. On
/// either side lies a canary. `name` is what messages call the buffer. Throws kata::Error when the device has
/// no room.
void* allocate(std::size_t bytes, std::string_view name, std::byte poison);
void release(void*) noexcept;
void upload(void* to, const void* from, std::size_t bytes);
void download(void* to, const void* from, std::size_t bytes);

/// Says which canary of the buffer was overwritten, if one was.
std::optional<std::string> damage(const void*);

}  // namespace device

/// An array of `T` in device memory. The harness owns it; a step gets data().
template <class T>
class Buffer {
  public:
    /// `count` elements that nobody has written, every byte holding `poison`.
    Buffer(std::string_view name, std::size_t count, std::byte poison = std::byte{0xA7})
        : count_(count), data_(static_cast<T*>(device::allocate(count * sizeof(T), name, poison))) {}

    /// A copy of `values`.
    Buffer(std::string_view name, std::span<const T> values) : Buffer(name, values.size()) {
        device::upload(data_, values.data(), values.size_bytes());
    }

    Buffer(Buffer&& other) noexcept
        : count_(std::exchange(other.count_, 0)), data_(std::exchange(other.data_, nullptr)) {}
    Buffer& operator=(Buffer&&) = delete;
    ~Buffer() { device::release(data_); }

    T* data() { return data_; }
    std::size_t size() const { return count_; }

    std::vector<T> values() const {
        std::vector<T> copy(count_);
        device::download(copy.data(), data_, count_ * sizeof(T));
        return copy;
    }

    std::optional<std::string> damage() const { return device::damage(data_); }

  private:
    std::size_t count_;
    T* data_;
};

}  // namespace kata
