// How long a launch takes: the chains of steps of its warps, and what joins them.
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

/// The steps of one warp, on a device on which no other warp is in its way.
class Chain {
  public:
    std::uint64_t time() const { return time_; }  ///< steps before its next one, along the longest way
    std::uint64_t work() const { return work_; }  ///< its own steps

    void step(std::uint64_t steps) { time_ += steps, work_ += steps; }
    /// What comes next comes no earlier than `time`.
    void wait_until(std::uint64_t time) { time_ = time > time_ ? time : time_; }

    // What it loads from global memory and stores to shared memory, but for asynchronous copies. Both answer
    // with the bytes of which it turns out now that they are waited for. Of `*to = *from`, where both are
    // structures, the compiler announces the store before the load. So it does of a store from registers and
    // the next load into them; but what is stored there has been loaded before.

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

    // Its asynchronous copies.

    void copies() { copies_ = true; }
    /// A thread has waited for so much, and done nothing else meanwhile.
    void waits_for_copy(std::uint64_t bytes) { late_ += bytes; }
    friend std::uint64_t waited_for_copies(std::vector<Chain>&);

    // Whoever polls waits for another warp: how many rounds that takes is the scheduler's business, and one
    // of them counts. In a round the lanes that poll do nothing else but read what nobody else signals with.

    bool polling() const { return polling_ != 0; }
    /// The lanes have polled, for the first time in a row.
    void begin_polling(Group);
    /// Whether what the lanes do may be part of a round, as which it is counted if the polling ends with it.
    bool round(Group, std::uint64_t steps_of(Group, kata::Counts&));
    /// Whether the lanes poll once more: the round is over, and was in vain.
    bool next_round(Group);
    void end_polling(kata::Counts& counts);

  private:
    std::uint64_t time_ = 0, work_ = 0;
    std::uint64_t unused_ = 0;             // bytes loaded that nothing was done after
    std::uint64_t unstored_ = 0;           // bytes loaded and not yet stored to shared memory
    std::uint64_t unloaded_ = 0;           // bytes just stored there that had not been loaded
    bool reads_ = false, copies_ = false;  // since the last barrier: from shared memory, and to there
    std::uint64_t late_ = 0;               // bytes of copies that were waited for since then
    std::uint32_t polling_ = 0;            // a bit for each lane
    std::uint64_t round_steps_ = 0;        // since the last poll
    kata::Counts round_;
};

/// To be called at a barrier, of the warps of a block: the bytes of copies that the block has waited for
/// since the last one. Where some warps copy and others read what was there before, the block does not wait.
std::uint64_t waited_for_copies(std::vector<Chain>&);

/// What the lanes of a warp do between barriers and exchanges. Where parts of a warp exchange values by
/// themselves, as tiles of eight lanes, one part runs after the other here, and a GPU runs them together. So
/// each lane has a depth: how many exchanges, its own and those that they wait for, came since the barrier.
class Phases {
  public:
    /// A lane loads: whether it is the first one to do so at its depth.
    bool loads(unsigned lane) { return !std::exchange(at(depths_[lane]).loads, true); }
    /// These lanes of those that are there exchange values: whether no others do so at the same depth, by the
    /// same instruction.
    bool exchange(std::uint32_t lanes, std::uint32_t present, std::uint32_t code) {
        if ((present & ~lanes) == 0) {  // nothing before it can be at the depth of what comes
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
    /// At a barrier.
    void meet() {
        depths_ = {};
        phases_.clear();
    }

  private:
    struct Phase {
        bool loads = false;
        std::vector<std::uint32_t> exchanged_by = {};  // at its end
    };
    Phase& at(unsigned depth) {
        if (depth >= phases_.size()) phases_.resize(depth + 1);
        return phases_[depth];
    }
    std::array<unsigned, 32> depths_{};
    std::vector<Phase> phases_;
};

/// Of each word of a piece of global memory: when it was written in this launch, and how many atomics it had.
class Words {
  public:
    explicit Words(std::size_t bytes);

    std::size_t bytes_of_memory() const { return most_ * sizeof(Word); }
    /// Makes them those of other memory, as new, if no later launch has the number of an earlier one. False
    /// where there is no room, or far too much.
    bool reuse(std::size_t bytes) {
        const auto count = (bytes + 3) / 4;
        if (count > most_ || count < most_ / 2) return false;
        count_ = count;
        return true;
    }

    /// The time of the latest write to any of these bytes; 0 where there was none.
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
    /// One more atomic: how many there were.
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
    std::size_t count_, most_;  // that there are, and that there is room for
};

/// Steps until kata::machine has done blocks of so much work each: its busiest multiprocessor's. The largest
/// block goes first, and each to the multiprocessor that has least so far, so that neither the order in which
/// blocks start nor how they are numbered says anything.
std::uint64_t busiest(std::vector<std::uint64_t> work_of_blocks);

}  // namespace meter
