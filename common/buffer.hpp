// Memory of the device that runs the steps, with one interface for both back ends (simt/memory.cpp,
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

/// Initial value of the bytes of new memory: about -5e-15 as a float, large and negative as an integer.
inline constexpr std::byte poison{0xA7};

/// Initial value of memory that is written before it is read, or that should be large at no cost.
inline constexpr std::byte zeros{0};

namespace device {

/// Allocates exactly `bytes` of device memory, 256-byte aligned, filled with `poison`, marked as never
/// written, and with a canary on either side. `name` is the buffer's name in messages. Throws kata::Error if
/// the device has no room.
void* allocate(std::size_t bytes, std::string_view name, std::byte poison);
void release(void*) noexcept;
void upload(void* to, const void* from, std::size_t bytes);
void download(void* to, const void* from, std::size_t bytes);
/// Fills `bytes` with copies of `period`. If the period consists of whole pages, the CPU back end stores it
/// only once, and copies a page when it is written.
void repeat(void* to, std::size_t bytes, std::span<const std::byte> period);

/// Returns which canary of the buffer was overwritten, if any.
std::optional<std::string> damage(const void*);

}  // namespace device

/// An array of `T` in device memory. The harness owns it; a step gets data().
template <class T>
class Buffer {
  public:
    /// Allocates `count` elements that count as never written, with every byte equal to `poison`. If that is
    /// zero, the CPU back end allocates only the pages that are written.
    Buffer(std::string_view name, std::size_t count, std::byte poison = kata::poison)
        : count_(count), data_(static_cast<T*>(device::allocate(count * sizeof(T), name, poison))) {}

    /// Allocates a copy of `values`.
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

    /// Returns what is wrong with the memory around it, if anything.
    std::optional<std::string> damage() const { return device::damage(data_); }

  private:
    std::size_t count_;
    T* data_;
};

/// A buffer that a step only reads. It remembers its contents.
template <class T>
class Input : public Buffer<T> {
  public:
    Input(std::string_view name, std::vector<T> values)
        : Buffer<T>(name, std::span<const T>(values)), name_(name), before_(std::move(values)) {}

    /// Returns the damage around it, or that the step has changed it, if either.
    std::optional<std::string> damage() const {
        if (auto text = Buffer<T>::damage()) return text;
        const auto now = this->values();
        // compared bit by bit, because NaN does not equal itself
        if (std::ranges::equal(std::as_bytes(std::span(now)), std::as_bytes(std::span(before_))))
            return std::nullopt;
        return "the input \"" + name_ + "\" was changed";
    }

  private:
    std::string name_;
    std::vector<T> before_;
};

}  // namespace kata
