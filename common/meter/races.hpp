// Finds accesses of two threads to one word that nothing orders, and reads of what nobody has written.
#pragma once
#include "meter/zeros.hpp"
#include "simt/image.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace meter {

/// How a thread reaches memory. Volatile is what blocks signal each other with; within a block it orders
/// nothing. (A byte would do; but what is put aside as a byte and read as a word makes the processor wait.)
enum class Verb : unsigned {
    read,
    write,
    volatile_read,
    volatile_write,
    update,
    atomic_read,
    atomic_write,
    // atomic to the threads of its block alone
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

/// What lanes of a warp did to a word at one time of the warp.
struct Record {
    std::uint32_t block = 0;    // linear, in the grid
    std::uint32_t barrier = 0;  // barriers that the block had passed
    std::uint32_t clock = 0;    // of the warp
    std::uint32_t lanes = 0;    // a bit each
    std::uint32_t code = 0;     // offset in the module, of what `lane` did
    std::uint8_t lane = 0;
    std::uint8_t warp = 0;   // in the block
    std::uint8_t bytes = 0;  // of the word, a bit each
    std::uint8_t did = 0;    // a Verb

    Verb verb() const { return static_cast<Verb>(did); }
    /// One of them: the one that `code` is of, if it is still there.
    unsigned first_lane() const {
        return lanes >> lane & 1 ? lane : static_cast<unsigned>(std::countr_zero(lanes));
    }
};

/// Who has seen what. Threads of a block are ordered by its barriers, lanes of a warp also by __syncwarp, and
/// across blocks, whoever reads atomically what was written atomically behind a fence has seen what came
/// before that fence. A plain read takes a second fence, behind the atomic one, or a cache may answer it with
/// what it had before.
class Clocks {
  public:
    void start_block(unsigned slot, std::uint32_t block, unsigned threads);
    void barrier(unsigned slot);
    void synchronise(unsigned slot, unsigned warp, std::uint32_t mask);
    void fence(unsigned slot, unsigned thread);
    void end_launch();

    /// A number of its own for what the block does between two barriers.
    std::uint64_t stretch(unsigned slot) const { return slots_[slot].stretch; }

    std::uint32_t clock(unsigned slot, unsigned warp) const { return slots_[slot].clocks[warp]; }

    /// What the thread does now, as far as its place in the order goes.
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

    /// The lanes whose part in `earlier` did not happen before what the thread does `now`.
    std::uint32_t unseen(const Record& earlier, Verb now, unsigned slot, unsigned thread) const;

    /// Whether the block of `earlier` has ended or has passed a barrier since.
    bool past(const Record& earlier) const {
        return std::none_of(slots_.begin(), slots_.end(), [&](const Slot& s) {
            return s.block == earlier.block && s.barriers == earlier.barrier;
        });
    }

    /// The thread writes to global memory, which is not yet behind a fence.
    void write(unsigned slot, unsigned thread);
    /// The thread has read, or is about to write, the word at `address` atomically.
    void acquire(unsigned slot, unsigned thread, std::uintptr_t address);
    void release(unsigned slot, unsigned thread, std::uintptr_t address);

  private:
    static constexpr std::uint32_t no_thread = ~0u;

    /// Everything that a block did before `barrier`, and what `thread` did behind it before `clock`.
    struct Stamp {
        std::uint32_t block, barrier, clock, thread;
        bool operator==(const Stamp&) const = default;
    };
    /// What an atomic write behind a fence tells whoever reads it: a stamp, and what its thread had been
    /// told.
    struct News {
        Stamp stamp;
        std::vector<const News*> told;
        mutable std::uint64_t visit = 0;  // the last search that came by
    };
    /// News, and from where on in the own block they are known: to `thread` behind `barrier`, to all later.
    struct Known {
        const News* news;
        std::uint32_t barrier, thread;
        bool fenced;  // by whoever had read them
        bool by(std::uint32_t now, std::uint32_t who) const { return barrier < now || thread == who; }
    };
    /// A thread's last release, so that one who polls does not say the same over and over.
    struct Release {
        std::uintptr_t address = 0;
        Stamp stamp{};
        std::size_t known = 0;
        bool operator==(const Release&) const = default;
    };
    struct Slot {
        std::uint32_t block = 0;
        std::uint32_t barriers = 0;
        std::uint64_t stretch = 0;
        std::vector<std::uint32_t> clocks;  // of each warp: its synchronisations and fences
        // Of each thread: what it has seen of the lanes of its warp, as the first clock that it has not.
        std::vector<std::array<std::uint32_t, 32>> seen;
        std::vector<std::optional<Stamp>> fenced;  // of each thread: its last fence
        std::vector<Release> released;             // of each thread
        // A barrier behind which everyone has fenced what they wrote lets anyone signal for all.
        std::vector<bool> unfenced;
        unsigned unfenced_count = 0;
        bool any_fence = false;
        std::optional<Stamp> fenced_by_all;
        std::vector<Known> known;
    };

    std::uint32_t unseen_across(const Record& earlier, Verb now, const Slot&, unsigned thread) const;

    std::array<Slot, 2> slots_;
    std::uint64_t stretches_ = 0;
    std::deque<News> news_;                                      // of the launch
    std::unordered_map<std::uintptr_t, const News*> published_;  // the last at each address
    mutable std::uint64_t searches_ = 0;
    mutable std::vector<const News*> to_visit_;
};

/// The accesses to each word of a piece of memory that a later one may still clash with.
class Shadow {
  public:
    /// With `keeps_written`, what was written stays so from epoch to epoch.
    explicit Shadow(std::size_t bytes, bool keeps_written);

    std::size_t bytes_of_memory() const { return most_ * (sizeof(Cell) + sizeof(std::uint64_t)); }
    /// Makes it one of other memory, as new: what it holds is of epochs before `epoch`, or without
    /// `keeps_written` of others. False where it is not of this kind, has no room, or has far too much.
    bool reuse(std::size_t bytes, bool keeps_written, std::uint32_t epoch);

    struct Answer {
        std::optional<Record> clash;  ///< what the access clashes with
        bool unwritten = false;       ///< whether some byte of it had not been written
        /// What reads the word through the read-only cache, where this access writes it in the same launch.
        std::optional<std::uint32_t> read_only;
    };
    /// Looks at an access at `offset` and remembers it. `epoch` tells the accesses that count from those of
    /// an earlier launch or block, which are forgotten.
    Answer access(std::size_t offset, std::size_t bytes, Verb, std::uint32_t code, std::uint32_t epoch,
                  const Clocks&, unsigned slot, unsigned thread);

    /// Does what access() does of a read of this whole word, where that is next to nothing: any thread of the
    /// block may read it, or it is what other lanes of the warp have just done. Else false, and nothing done.
    bool read_once_more(std::size_t offset, std::uint32_t code, const Clocks& clocks, unsigned slot,
                        unsigned thread) {
        const auto word = offset / 4;
        if (offset % 4 != 0 || word >= count_) return false;
        const auto stretch = clocks.stretch(slot);
        if (calm_[word] == stretch) return true;
        auto& cell = cells_[word];
        if (cell.quiet != stretch || cell.more != 0 || (!written && cell.written != 0xf)) return false;
        auto& r = cell.records[cell.reader];
        const auto warp = thread / 32;
        if (r.warp != warp || r.clock != clocks.clock(slot, warp) || r.code != code) return false;
        r.lanes |= 1u << thread % 32;
        return true;
    }

    /// Remembers a read through the cache for what no launch changes while it runs. The code that has written
    /// the word in this epoch, if any has.
    std::optional<std::uint32_t> read_only(std::size_t offset, std::size_t bytes, std::uint32_t code,
                                           std::uint32_t epoch);

    /// Whether the thread of a record has written other words of this epoch by the same instruction, as far
    /// as that is remembered: before and behind these, which are one element's.
    struct Beside {
        bool before = false, behind = false;
    };
    Beside written_beside(std::size_t first, std::size_t last, const Record& who, std::uint32_t code,
                          std::uint32_t epoch);

    std::size_t words_touched = 0;  // in the current epoch, kept by the caller
    bool written = false;           // before this launch, and all of it; likewise
    /// What else the host has written: parts in order, as offsets; likewise.
    std::vector<simt::Range> written_parts;

  private:
    // What is looked at each time lies in one line of the cache, with the first record.
    struct alignas(64) Cell {
        std::uint32_t epoch;
        std::uint32_t more;  // 1 + the place in more_ of the records, where there are too many for the cell
        std::uint8_t written;
        std::uint8_t count;
        bool changed;         // in this epoch
        bool read_only;       // read so in this epoch
        std::uint32_t other;  // the code that did the one or the other
        // The stretch in which the last to come was a reader of the whole word whom nothing conflicts with,
        // and its record: those who do the same with other lanes add these, and no more.
        std::uint64_t quiet;
        std::uint32_t reader;
        // thread_of() who has updated the word atomically, if nobody has reached it atomically since, or 0.
        // All other updates come before what that thread does next: it has found what they have left.
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
    /// The bytes of a word that the host has written, a bit each.
    std::uint8_t written_by_host(std::size_t word) const;
    /// Whether an access says nothing new, and whether no whole read of the block will before its next
    /// barrier. (No bytes, as with Verb.)
    struct Look {
        unsigned nothing_new, calm;
        const Record* reader = nullptr;  ///< who reads the whole word without a conflict, and did so before
    };
    [[gnu::always_inline]] Look look(Cell&, const Record& me);
    /// settle() where a barrier of its block comes between the access and all that is remembered, if anything
    /// is; else changes nothing and answers false.
    [[gnu::always_inline]] bool settle_behind_barrier(Cell&, const Record& me, const Clocks&);
    std::optional<Record> settle(Cell&, const Record& me, const Clocks&, unsigned slot, unsigned thread);
    void remove(Cell&, std::size_t index);
    void remember(Cell&, const Record&, const Clocks&);

    Zeros<Cell> cells_;
    // Of each word the stretch in which whole reads say nothing new, or 0.
    Zeros<std::uint64_t> calm_;
    std::size_t count_, most_;  // words that there are, and that there is room for
    bool keeps_written_;
    std::uint32_t first_epoch_ = 0;  // what was written before is not of this memory
    std::vector<std::vector<Record>> more_;
};

}  // namespace meter
