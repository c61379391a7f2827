// Memory of the device that runs the steps, one interface for both back ends (simt/memory.cpp,
// gpu/memory.cpp).
#pragma once
#include <algorithm>
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

/// What fresh memory is filled with: as a float about -5e-15, as an integer large and negative.
inline constexpr std::byte poison{0xA7};

/// What memory holds that nobody reads before it is written, or that shall be large and cost nothing.
inline constexpr std::byte zeros{0};

namespace device {

/// Exactly `bytes` of device memory, 256-byte aligned, filled with `poison` and marked as never written. On
/// either side lies a canary. `name` is what messages call the buffer. Throws kata::Error when the device has
/// no room.
void* allocate(std::size_t bytes, std::string_view name, std::byte poison);
void release(void*) noexcept;
void upload(void* to, const void* from, std::size_t bytes);
void download(void* to, const void* from, std::size_t bytes);
/// Fills `bytes` with a period, again and again. Of whole pages the CPU back end takes memory from the
/// machine only once, and where somebody writes.
void repeat(void* to, std::size_t bytes, std::span<const std::byte> period);

/// Says which canary of the buffer was overwritten, if one was.
std::optional<std::string> damage(const void*);

}  // namespace device

/// An array of `T` in device memory. The harness owns it; a step gets data().
template <class T>
class Buffer {
  public:
    /// `count` elements that nobody has written, every byte holding `poison`. Of zeros the CPU back end takes
    /// only those pages from the machine that somebody writes to.
    Buffer(std::string_view name, std::size_t count, std::byte poison = kata::poison)
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

    T element(std::size_t i) const {
        T value;
        device::download(&value, data_ + i, sizeof value);
        return value;
    }
    void set(std::size_t i, T value) { device::upload(data_ + i, &value, sizeof value); }

    /// What is wrong with the memory around it, if anything.
    std::optional<std::string> damage() const { return device::damage(data_); }

  private:
    std::size_t count_;
    T* data_;
};

/// What a step reads: a buffer that remembers what it held.
template <class T>
class Input : public Buffer<T> {
  public:
    Input(std::string_view name, std::vector<T> values)
        : Buffer<T>(name, std::span<const T>(values)), name_(name), before_(std::move(values)) {}

    /// Damage, or that the step has changed it.
    std::optional<std::string> damage() const {
        if (auto text = Buffer<T>::damage()) return text;
        const auto now = this->values();
        // bit by bit, for NaN is not equal to itself
        if (std::ranges::equal(std::as_bytes(std::span(now)), std::as_bytes(std::span(before_))))
            return std::nullopt;
        return "the input \"" + name_ + "\" was changed";
    }

  private:
    std::string name_;
    std::vector<T> before_;
};

}  // namespace kata
