// Snapshots of the memory that kernels may write: the buffers, and the variables of a module.
#pragma once
#include "simt/image.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace simt {

/// The contents of memory, to be compared and restored. Zeros, as in most of a module's large arrays, are not
/// copied.
class Snapshot {
  public:
    /// Without `buffers`, takes the variables alone.
    explicit Snapshot(const Range& variables, bool buffers = true);
    void restore() const;
    bool operator==(const Snapshot& other) const { return pieces_ == other.pieces_; }

    /// Calls `work` for each range of which every byte has changed, with its earlier contents.
    using Work = std::function<void(std::byte* now, std::span<const std::byte> then)>;
    void for_each_change(const Work&) const;

  private:
    struct Piece {
        std::span<std::byte> memory;
        std::vector<std::byte> bytes;  // empty if all of it is zero
        bool operator==(const Piece& other) const { return bytes == other.bytes; }
    };
    void add(const Range&);
    std::vector<Piece> pieces_;
};

/// The changes of kernels to the variables of a module, undone by the destructor. Changes of the host stay: a
/// C++ object that owns memory would be restored only in part.
class Changes {
  public:
    Changes() = default;
    ~Changes();
    Changes(const Changes&) = delete;
    Changes& operator=(const Changes&) = delete;
    /// Called after each launch with a snapshot of the variables from before it.
    void add(const Snapshot& before);

  private:
    // Kernels often change every other word, so the bytes of all ranges are in one vector.
    std::vector<std::span<std::byte>> ranges_;
    std::vector<std::byte> bytes_;  // their earlier contents, one after the other
};

/// Returns the size of the memory that kernels may write.
std::size_t bytes_to_write(const Range& variables);

/// Returns a hash of the memory that kernels may write.
std::uint64_t state_of_memory(const Range& variables);

}  // namespace simt
