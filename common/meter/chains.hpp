// The time of a launch: the chains of steps of its warps, and how they depend on each other.
#pragma once
#include "meter/warp_log.hpp"
#include "meter/zeros.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace meter {

/// The steps of one warp, on a device on which it waits for no resources.
class Chain {
  public:
    std::uint64_t time() const { return time_; }  ///< steps on the longest path to its next one
    std::uint64_t work() const { return work_; }  ///< its own steps

    void step(std::uint64_t steps) { time_ += steps, work_ += steps; }
    /// The next step begins no earlier than `time`.
    void wait_until(std::uint64_t time) { time_ = time > time_ ? time : time_; }

    // Loads from global memory and stores to shared memory, other than asynchronous copies. Both return the
    // bytes now found to be waited for. For a structure, the compiler announces the store of `*to = *from`
    // before the load. A store from registers followed by a load into them looks the same, but its bytes were
    // loaded before.

    std::uint64_t loads(std::uint64_t bytes) {
        const auto before_load = std::exchange(unloaded_, 0);
        if (bytes <= before_load) {
            unloaded_ = before_load - bytes;
            return bytes;
        }
        unused_ += bytes;
        unstored_ += bytes;
        return 0;
    }
    void reads_shared() {
        unused_ = unloaded_ = 0;
        reads_ = true;
    }
    void enters_basic_block() { unloaded_ = 0; }
    std::uint64_t stores_shared(std::uint64_t bytes) {
        unloaded_ += bytes - std::min(bytes, unstored_);
        unstored_ -= std::min(bytes, unstored_);
        return std::exchange(unused_, 0);
    }

    // The asynchronous copies of the warp.

    void copies() { copies_ = true; }
    /// A thread has waited for this many bytes, and done nothing else meanwhile.
    void waits_for_copy(std::uint64_t bytes) { late_ += bytes; }
    friend std::uint64_t waited_for_copies(std::vector<Chain>&);

    // A warp that polls waits for another one. The number of rounds depends on the scheduler, so only
    // one round is counted. In a round the polling lanes only poll and read memory that is not used for
    // signals.

    bool polling() const { return polling_ != 0; }
    /// The lanes have polled for the first time.
    void begin_polling(Group);
    /// Returns true if the group may be part of a round. The group is counted if the round is the last one.
    bool round(Group, std::uint64_t steps_of(Group, kata::Counts&));
    /// Returns true if the lanes poll again: the round was in vain.
    bool next_round(Group);
    void end_polling(kata::Counts& counts);

  private:
    std::uint64_t time_ = 0, work_ = 0;
    std::uint64_t unused_ = 0;             // bytes loaded, and no read of shared memory since
    std::uint64_t unstored_ = 0;           // bytes loaded and not yet stored to shared memory
    std::uint64_t unloaded_ = 0;           // bytes just stored there before they were loaded
    bool reads_ = false, copies_ = false;  // has read shared memory, or copied to it, since the last barrier
    std::uint64_t late_ = 0;               // bytes of copies waited for since the last barrier
    std::uint32_t polling_ = 0;            // the lanes that poll, a bit each
    std::uint64_t round_steps_ = 0;        // steps since the last poll
    kata::Counts round_;
};

/// Called at a barrier with the warps of a block. Returns the bytes of copies that the block has waited for
/// since the last barrier. If some warps only copy while others read earlier data, the block does not wait.
std::uint64_t waited_for_copies(std::vector<Chain>&);

/// The loads and exchanges of the lanes of a warp since the last barrier. Parts of a warp that exchange
/// values among themselves, such as tiles of eight lanes, run one after the other here and together on a GPU.
/// So each lane has a depth: the number of exchanges since the barrier, its own and those that they wait for.
class Phases {
  public:
    /// A lane loads. Returns true if it is the first one to do so at its depth.
    bool loads(unsigned lane) { return !std::exchange(at(depths_[lane]).loads, true); }
    /// These lanes of those present exchange values. Returns true if they are the first to do so at this
    /// depth by this instruction.
    bool exchange(std::uint32_t lanes, std::uint32_t present, std::uint32_t code) {
        if ((present & ~lanes) == 0) {  // everything later is at a greater depth
            meet();
            return true;
        }
        unsigned deepest = 0;
        for (unsigned l = 0; l < 32; ++l)
            if ((lanes >> l & 1) != 0) deepest = std::max(deepest, depths_[l]);
        for (unsigned l = 0; l < 32; ++l)
            if ((lanes >> l & 1) != 0) depths_[l] = deepest + 1;
        auto& by = at(deepest).exchanged_by;
        const bool is_new = std::find(by.begin(), by.end(), code) == by.end();
        if (is_new) by.push_back(code);
        return is_new;
    }
    /// Called at a barrier.
    void meet() {
        depths_ = {};
        phases_.clear();
    }

  private:
    struct Phase {
        bool loads = false;
        std::vector<std::uint32_t> exchanged_by = {};  // codes of the exchanges at the end of the phase
    };
    Phase& at(unsigned depth) {
        if (depth >= phases_.size()) phases_.resize(depth + 1);
        return phases_[depth];
    }
    std::array<unsigned, 32> depths_{};
    std::vector<Phase> phases_;
};

/// For each word of a region of global memory: the time of its last write and the number of its atomics in a
/// launch.
class Words {
  public:
    explicit Words(std::size_t bytes);

    std::size_t bytes_of_memory() const { return most_ * sizeof(Word); }
    /// Reuses the words for another region; later launches must have higher numbers. Returns false if there
    /// is too little room, or far too much.
    bool reuse(std::size_t bytes) {
        const auto count = (bytes + 3) / 4;
        if (count > most_ || count < most_ / 2) return false;
        count_ = count;
        return true;
    }

    /// Returns the time of the latest write to any of these bytes; 0 if there was none.
    std::uint64_t written(std::size_t offset, std::size_t bytes, std::uint32_t launch) const {
        std::uint64_t latest = 0;
        for (auto i = offset / 4; i * 4 < offset + bytes && i < count_; ++i)
            if (words_[i].launch == launch) latest = std::max(latest, words_[i].time);
        return latest;
    }
    void write(std::size_t offset, std::size_t bytes, std::uint32_t launch, std::uint64_t time) {
        for (auto i = offset / 4; i * 4 < offset + bytes && i < count_; ++i) {
            auto& word = fresh(i, launch);
            word.time = std::max(word.time, time);
        }
    }
    /// Counts an atomic. Returns the number so far.
    std::uint64_t update(std::size_t offset, std::uint32_t launch) {
        return ++fresh(offset / 4, launch).atomics;
    }

  private:
    struct Word {
        std::uint32_t launch, atomics;
        std::uint64_t time;
    };
    Word& fresh(std::size_t index, std::uint32_t launch) {
        auto& word = words_[index];
        if (word.launch != launch) word = {launch, 0, 0};
        return word;
    }

    Zeros<Word> words_;
    std::size_t count_, most_;  // words in use, and words allocated
};

/// Returns the steps of the busiest multiprocessor of kata::machine. Blocks are assigned from the largest on,
/// each to the multiprocessor with the least work so far, so that the order and numbering of blocks do not
/// matter.
std::uint64_t busiest(std::vector<std::uint64_t> work_of_blocks);

}  // namespace meter
