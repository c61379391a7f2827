// What memory that kernels may write held at some time: the buffers, and the variables of a module.
#pragma once
#include "simt/image.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace simt {

/// Ranges of memory, to be compared and put back. Of what is zero, as most of a large array of a module is
/// and stays, no copy is made.
class Snapshot {
  public:
    /// Without `buffers`, of the variables alone.
    explicit Snapshot(const Range& variables, bool buffers = true);
    void restore() const;
    bool operator==(const Snapshot& other) const { return pieces_ == other.pieces_; }

    /// Calls `work` for each stretch of memory of which every byte is another one now, with what it held.
    using Work = std::function<void(std::byte* now, std::span<const std::byte> then)>;
    void for_each_change(const Work&) const;

  private:
    struct Piece {
        std::span<std::byte> memory;
        std::vector<std::byte> bytes;  // none where all of it is zero
        bool operator==(const Piece& other) const { return bytes == other.bytes; }
    };
    void add(const Range&);
    std::vector<Piece> pieces_;
};

/// What kernels have changed in the variables of a module, which is put back when this goes. What the host
/// has changed stays: of an object of C++ that owns memory only half would be put back.
class Changes {
  public:
    Changes() = default;
    ~Changes();
    Changes(const Changes&) = delete;
    Changes& operator=(const Changes&) = delete;
    /// To be called behind each launch, with what the variables held before it.
    void add(const Snapshot& before);

  private:
    // Kernels often change every other word: one row of bytes for all stretches, and nothing allocated for
    // each.
    std::vector<std::span<std::byte>> stretches_;
    std::vector<std::byte> bytes_;  // that they held, one after the other
};

/// How much memory kernels may write.
std::size_t bytes_to_write(const Range& variables);

/// A number that is another one where memory that kernels may write holds anything else.
std::uint64_t state_of_memory(const Range& variables);

}  // namespace simt
