// Finds accesses of two threads to one word that nothing orders, and reads of what nobody has written.
#pragma once
#include "simt/image.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace meter {

/// Where a thread stands in the order of its launch.
struct Moment {
    std::uint32_t block = 0;    // linear, in the grid
    std::uint32_t barrier = 0;  // barriers that its block has passed
    std::uint32_t clock = 0;    // warp synchronisations and fences of its own
    std::uint16_t thread = 0;   // linear, in the block
};

/// How a thread reaches memory. Volatile is what blocks signal each other with; within a block it orders
/// nothing.
enum class Verb : std::uint8_t { read, write, volatile_read, volatile_write, update };
constexpr bool writes(Verb v) { return v == Verb::write || v == Verb::volatile_write || v == Verb::update; }
constexpr bool reads(Verb v) { return v == Verb::read || v == Verb::volatile_read || v == Verb::update; }
constexpr bool signals(Verb v) { return v >= Verb::volatile_read; }

/// One access that may meet another.
struct Record {
    Moment when;
    std::uint32_t code = 0;  // offset in the module
    std::uint8_t bytes = 0;  // of the word, a bit each; 0 means that the record is empty
    Verb verb = Verb::read;
};

/// Who has seen what. Threads of a block are ordered by its barriers, lanes of a warp also by __syncwarp and,
/// across blocks, whoever reads atomically what was written atomically behind a fence has seen what came
/// before that fence.
class Clocks {
  public:
    void start_block(unsigned slot, std::uint32_t block, unsigned threads);
    void barrier(unsigned slot) { ++slots_[slot].barriers; }
    void synchronise(unsigned slot, unsigned warp, std::uint32_t mask);
    void fence(unsigned slot, unsigned thread);
    void end_launch();

    Moment now(unsigned slot, unsigned thread) const {
        const auto& s = slots_[slot];
        return {s.block, s.barriers, s.seen[thread][thread % 32], static_cast<std::uint16_t>(thread)};
    }

    /// Whether `earlier` happened before what the thread does now.
    bool ordered(const Moment& earlier, unsigned slot, unsigned thread) const {
        const auto& s = slots_[slot];
        if (earlier.block != s.block) return ordered_by_fences(earlier, slot, thread);
        if (earlier.thread == thread || earlier.barrier != s.barriers) return true;
        return earlier.thread / 32 == thread / 32 && s.seen[thread][earlier.thread % 32] > earlier.clock;
    }

    /// The thread has read, or is about to write, the word at `address` atomically.
    void acquire(unsigned slot, unsigned thread, std::uintptr_t address);
    void release(unsigned slot, unsigned thread, std::uintptr_t address);

  private:
    /// Everything that `block` did up to `barrier`, and what `thread` did there before `clock`.
    struct Stamp {
        std::uint32_t block;
        std::uint16_t thread;
        std::uint32_t barrier;
        std::uint32_t clock;
    };
    /// A stamp, and from where on in the own block it is known.
    struct Known {
        Stamp stamp;
        std::uint32_t barrier;
        std::uint16_t thread;
    };
    struct Slot {
        std::uint32_t block = 0;
        std::uint32_t barriers = 0;
        // Of each thread: what it has seen of the lanes of its warp, as the first clock that it has not.
        std::vector<std::array<std::uint32_t, 32>> seen;
        std::vector<std::optional<Stamp>> fenced;  // of each thread: its last fence
        std::unordered_map<std::uint32_t, std::vector<Known>> known;
    };

    bool ordered_by_fences(const Moment& earlier, unsigned slot, unsigned thread) const;
    static void learn(Slot&, const Known&);

    std::array<Slot, 2> slots_;
    std::unordered_map<std::uintptr_t, std::vector<Stamp>> released_;
};

/// The last accesses to each word of a piece of memory.
class Shadow {
  public:
    explicit Shadow(std::size_t bytes = 0);

    struct Answer {
        std::optional<Record> clash;  ///< what the access clashes with
        bool unwritten = false;       ///< whether some byte of it was not written in the epoch before
    };
    /// Looks at an access at `offset` and remembers it. `epoch` tells the accesses that count from those of
    /// an earlier launch or block, which are forgotten.
    Answer access(std::size_t offset, std::size_t bytes, Verb, std::uint32_t code, std::uint32_t epoch,
                  const Clocks&, unsigned slot, unsigned thread);

    std::size_t words_touched = 0;  // in the current epoch, kept by the caller

  private:
    struct Cell {
        std::uint32_t epoch = 0;
        std::uint8_t written = 0;     // bytes written in the epoch
        std::array<Record, 2> write;  // the second only behind an atomic, by another thread
        // Two lanes of one warp and one of another: whoever writes next, one of them is not ordered if any
        // reader is not, but for lanes of the warp that a partial __syncwarp has left out.
        std::array<Record, 3> read;
    };
    struct Free {
        void operator()(Cell* cells) const { std::free(cells); }
    };
    std::unique_ptr<Cell[], Free> cells_;
    std::size_t count_ = 0;
};

}  // namespace meter
