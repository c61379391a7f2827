// Finds unordered accesses of two threads to one word, and reads of uninitialized memory.
#pragma once
#include "meter/zeros.hpp"
#include "simt/image.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

namespace meter {

/// The kind of an access. Blocks signal each other with volatiles, too; within a block a volatile orders
/// nothing. (Not a byte: reading a word just stored as bytes stalls the processor.)
enum class Verb : unsigned {
    read,
    write,
    volatile_read,
    volatile_write,
    update,
    atomic_read,
    atomic_write,
    // with the scope of the block
    update_in_block,
    atomic_read_in_block,
    atomic_write_in_block
};
inline constexpr unsigned verbs = 10;
constexpr bool is_atomic(Verb v) { return v >= Verb::update; }
constexpr bool updates(Verb v) { return v == Verb::update || v == Verb::update_in_block; }
constexpr bool writes(Verb v) {
    return v == Verb::write || v == Verb::volatile_write || v == Verb::atomic_write ||
           v == Verb::atomic_write_in_block || updates(v);
}
constexpr bool reads(Verb v) { return updates(v) || !writes(v); }
constexpr bool signals(Verb v) { return v >= Verb::volatile_read && v < Verb::update_in_block; }

/// An access of lanes of a warp to a word at one time of the warp.
struct Record {
    std::uint32_t block = 0;    // linear, in the grid
    std::uint32_t barrier = 0;  // barriers passed by the block
    std::uint32_t clock = 0;    // the warp's clock
    std::uint32_t lanes = 0;    // a bit for each lane
    std::uint32_t code = 0;     // offset in the module, of the access of `lane`
    std::uint8_t lane = 0;
    std::uint8_t warp = 0;   // its index in the block
    std::uint8_t bytes = 0;  // a bit for each byte of the word
    std::uint8_t did = 0;    // a Verb

    Verb verb() const { return static_cast<Verb>(did); }
    /// Returns one of the lanes: the one that `code` belongs to, if it is still among them.
    unsigned first_lane() const {
        return lanes >> lane & 1 ? lane : static_cast<unsigned>(std::countr_zero(lanes));
    }
};

/// The order of accesses. Barriers order the threads of a block, and __syncwarp the lanes of a warp. Across
/// blocks, a thread that reads atomically what was written atomically after a fence has seen what came before
/// that fence. Plain reads need a second fence, after the atomic read: a cache may hold old values.
class Clocks {
  public:
    void start_block(unsigned slot, std::uint32_t block, unsigned threads);
    void barrier(unsigned slot);
    void synchronise(unsigned slot, unsigned warp, std::uint32_t mask);
    void fence(unsigned slot, unsigned thread);
    void end_launch();

    /// Returns a number unique to the interval between two barriers of the block.
    std::uint64_t interval(unsigned slot) const { return slots_[slot].interval; }

    std::uint32_t clock(unsigned slot, unsigned warp) const { return slots_[slot].clocks[warp]; }

    /// Returns a record with the thread's current place in the order.
    Record now(unsigned slot, unsigned thread) const {
        const auto& s = slots_[slot];
        const auto warp = thread / 32;
        return {.block = s.block,
                .barrier = s.barriers,
                .clock = s.clocks[warp],
                .lanes = 1u << thread % 32,
                .lane = static_cast<std::uint8_t>(thread % 32),
                .warp = static_cast<std::uint8_t>(warp)};
    }

    /// Returns the lanes whose part in `earlier` did not happen before the thread's access `now`.
    std::uint32_t unseen(const Record& earlier, Verb now, unsigned slot, unsigned thread) const;

    /// True if the block of `earlier` has ended or passed a barrier since.
    bool past(const Record& earlier) const {
        return std::none_of(slots_.begin(), slots_.end(), [&](const Slot& s) {
            return s.block == earlier.block && s.barriers == earlier.barrier;
        });
    }

    /// The thread writes to global memory: a fence must follow.
    void write(unsigned slot, unsigned thread);
    /// The thread has read, or is about to write, the word at `address` atomically.
    void acquire(unsigned slot, unsigned thread, std::uintptr_t address);
    void release(unsigned slot, unsigned thread, std::uintptr_t address);

  private:
    static constexpr std::uint32_t no_thread = ~0u;

    /// Everything that a block did before `barrier`, and what `thread` did after it and before `clock`.
    struct Stamp {
        std::uint32_t block, barrier, clock, thread;
        bool operator==(const Stamp&) const = default;
    };
    /// The information that an atomic write after a fence publishes to its readers: a stamp, and the news
    /// that its thread had received.
    struct News {
        Stamp stamp;
        std::vector<const News*> told;
        mutable std::uint64_t visit = 0;  // the last search that visited it
    };
    /// News, and where they are known in the receiving block: by `thread` after `barrier`, by all threads
    /// after the next one.
    struct Known {
        const News* news;
        std::uint32_t barrier, thread;
        bool fenced;  // there was a fence after the read
        bool by(std::uint32_t now, std::uint32_t who) const { return barrier < now || thread == who; }
    };
    /// A thread's last release: a polling thread does not publish the same again.
    struct Release {
        std::uintptr_t address = 0;
        Stamp stamp{};
        std::size_t known = 0;
        bool operator==(const Release&) const = default;
    };
    struct Slot {
        std::uint32_t block = 0;
        std::uint32_t barriers = 0;
        std::uint64_t interval = 0;
        std::vector<std::uint32_t> clocks;  // for each warp, its synchronizations and fences so far
        // For each thread and each lane of its warp: the first clock of that lane that the thread has not
        // seen.
        std::vector<std::array<std::uint32_t, 32>> seen;
        std::vector<std::optional<Stamp>> fenced;  // the last fence of each thread
        std::vector<Release> released;             // the last release of each thread
        // After a barrier that follows fences of all threads that wrote, any thread may signal for all.
        std::vector<bool> unfenced;
        unsigned unfenced_count = 0;
        bool any_fence = false;
        std::optional<Stamp> fenced_by_all;
        std::vector<Known> known;
    };

    std::uint32_t unseen_across(const Record& earlier, Verb now, const Slot&, unsigned thread) const;

    std::array<Slot, 2> slots_;
    std::uint64_t intervals_ = 0;
    std::deque<News> news_;                                      // all news of the launch
    std::unordered_map<std::uintptr_t, const News*> published_;  // the last news published at each address
    mutable std::uint64_t searches_ = 0;
    mutable std::vector<const News*> to_visit_;
};

/// For each word of a region, the accesses that a later one may still clash with.
class Shadow {
  public:
    /// With `keeps_written`, written bytes remain so from epoch to epoch.
    explicit Shadow(std::size_t bytes, bool keeps_written);

    std::size_t bytes_of_memory() const { return most_ * (sizeof(Cell) + sizeof(std::uint64_t)); }
    /// Makes it the shadow of another region, as new from `epoch` on. Returns false if it differs in
    /// `keeps_written`, has too little room, or far too much.
    bool reuse(std::size_t bytes, bool keeps_written, std::uint32_t epoch);

    struct Answer {
        std::optional<Record> clash;  ///< the access that it clashes with
        bool unwritten = false;       ///< true if some byte had not been written
        /// The code that reads the word through the read-only cache, if this access writes it in the same
        /// launch.
        std::optional<std::uint32_t> read_only;
    };
    /// Checks an access at `offset` and records it. Accesses of earlier epochs, that is of earlier launches
    /// or blocks, are forgotten.
    Answer access(std::size_t offset, std::size_t bytes, Verb, std::uint32_t code, std::uint32_t epoch,
                  const Clocks&, unsigned slot, unsigned thread);

    /// Fast path of access() for a read of a whole word: if any thread of the block may read it, or other
    /// lanes of the warp have just done so. Otherwise does nothing and returns false.
    bool read_once_more(std::size_t offset, std::uint32_t code, const Clocks& clocks, unsigned slot,
                        unsigned thread) {
        const auto word = offset / 4;
        if (offset % 4 != 0 || word >= count_) return false;
        const auto interval = clocks.interval(slot);
        if (calm_[word] == interval) return true;
        auto& cell = cells_[word];
        if (cell.quiet != interval || cell.more != 0 || (!written && cell.written != 0xf)) return false;
        auto& r = cell.records[cell.reader];
        const auto warp = thread / 32;
        if (r.warp != warp || r.clock != clocks.clock(slot, warp) || r.code != code) return false;
        r.lanes |= 1u << thread % 32;
        return true;
    }

    /// Records a read through the read-only cache. Returns the code that has written the word in this epoch,
    /// if any.
    std::optional<std::uint32_t> read_only(std::size_t offset, std::size_t bytes, std::uint32_t code,
                                           std::uint32_t epoch);

    /// Tells whether the thread of a record is known to have written other words in this epoch by the same
    /// instruction, before or after the words of one element.
    struct Beside {
        bool before = false, behind = false;
    };
    Beside written_beside(std::size_t first, std::size_t last, const Record& who, std::uint32_t code,
                          std::uint32_t epoch);

    /// The words from `first` to `last` that are written in this epoch, and the instructions known to have
    /// written some of them.
    struct Written {
        std::size_t words = 0;
        bool partly = false;  // some words hold only some written bytes
        std::set<std::uint32_t> codes = {};
    };
    Written written_of(std::size_t first, std::size_t last, std::uint32_t epoch);

    /// Returns how many words launches have written, wholly or partly, other than those from `first` to
    /// `last`; with `keeps_written` also earlier launches.
    std::size_t written_by_kernels_beside(std::size_t first, std::size_t last) const;

    std::size_t words_touched = 0;  // in the current epoch; set by the caller
    bool written = false;           // all of it was written before this launch; set by the caller
    /// Parts of the array that the host has written, as offsets, the lowest first; set by the caller.
    std::vector<simt::Range> written_parts;

  private:
    // The fields read by every access lie in one cache line with the first record.
    struct alignas(64) Cell {
        std::uint32_t epoch;
        std::uint32_t more;  // 1 + the index in more_ of the records, if they are too many for the cell
        std::uint8_t written;
        std::uint8_t count;
        bool changed;         // in this epoch
        bool read_only;       // read so in this epoch
        std::uint32_t other;  // the code that did either
        // Fast path: the interval in which the last access was a conflict-free read of the whole word, and
        // its record. Further lanes of that read only set their bits.
        std::uint64_t quiet;
        std::uint32_t reader;
        // thread_of() the last atomic update, if no atomic access followed, or 0. Every earlier update
        // happens-before that thread's next access.
        std::uint32_t updated_by;
        std::array<Record, 4> records;
    };
    static std::uint32_t thread_of(const Record& me) {
        return 1 + (me.block * 1024 + me.warp * 32u + me.lane);
    }

    std::span<Record> records(Cell& cell) {
        if (cell.more != 0) return more_[cell.more - 1];
        return {cell.records.data(), cell.count};
    }
    void renew(Cell&, std::uint32_t epoch);
    /// Returns the bytes of a word that the host has written, a bit each.
    std::uint8_t written_by_host(std::size_t word) const;
    /// nothing_new: the access need not be recorded. calm: nor need any read of the whole word by the block
    /// before its next barrier. (They are no bytes for the same reason as Verb.)
    struct Look {
        unsigned nothing_new, calm;
        const Record* reader = nullptr;  ///< the conflict-free read of the word that this one joins
    };
    [[gnu::always_inline]] Look look(Cell&, const Record& me);
    /// Fast path of settle(): if all records are of the same block, before its last barrier. Otherwise
    /// changes nothing and returns false.
    [[gnu::always_inline]] bool settle_behind_barrier(Cell&, const Record& me, const Clocks&);
    std::optional<Record> settle(Cell&, const Record& me, const Clocks&, unsigned slot, unsigned thread);
    void remove(Cell&, std::size_t index);
    void remember(Cell&, const Record&, const Clocks&);

    Zeros<Cell> cells_;
    // For each word the interval in which reads of the whole word need not be recorded, or 0.
    Zeros<std::uint64_t> calm_;
    std::size_t count_, most_;  // words in use, and allocated
    bool keeps_written_;
    std::uint32_t first_epoch_ = 0;  // bytes written before belong to other memory
    std::vector<std::vector<Record>> more_;
};

}  // namespace meter
