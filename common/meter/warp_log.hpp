// What the lanes of a warp did, put together again as the warp would have executed it.
#pragma once
#include "counts.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace meter {

/// What an event of a lane was; `basic_block` is the entry into a basic block.
enum class What : std::uint8_t { basic_block, load, store, atomic };
enum class Space : std::uint8_t { none, global, shared, constant };

/// Small, for a launch makes millions of them.
struct Event {
    std::uintptr_t address;
    std::uint32_t code;  // offset in the module
    std::uint8_t bytes;
    What what;
    Space space;
    std::uint8_t lane : 5 = 0;
    bool polls : 1 = false;       // reads what other blocks signal with
    bool repeats : 1 = false;     // polls once more what the lane has polled just before
    bool only_reads : 1 = false;  // an atomic that has changed nothing
};

/// What lanes of a warp did together: one instruction, in one memory, in ascending order of lanes.
using Group = std::span<const Event* const>;

/// The events of 32 lanes. A lane stands for one thread; the scheduler runs lanes one after the other, a GPU
/// runs them together, so the log groups the events of one instruction: of all lanes that can go on, those at
/// the lowest code address execute next. Compilers lay code out so that this is the order of a GPU, which
/// lets the lanes of a branch run and join behind it, and the lanes of a loop go round before those that have
/// left it.
class WarpLog {
  public:
    void clear() {
        lanes_ = {};
        give_back();
    }
    /// Whether the lane must wait until the log has been read.
    bool full(unsigned lane) const { return lanes_[lane].end == capacity; }
    void add(unsigned lane, Event event) {
        if (!events_) take();
        event.lane = static_cast<std::uint8_t>(lane);
        events_[lane * stride + lanes_[lane].end++] = event;
    }

    /// Hands over, group by group, what can be grouped already. `waiting` has a bit for each lane that has
    /// ended or waits, so that nothing of it is to come before the others have gone on.
    void read(std::uint32_t waiting, const std::function<void(Group)>& account);

    /// The code of what the lane has added last; 0 if that was nothing.
    std::uint32_t last_code(unsigned lane) const {
        const auto end = lanes_[lane].end;
        return events_ && end > 0 ? events_[lane * stride + end - 1].code : lanes_[lane].before;
    }
    /// What the lane has added last, if that is still there.
    Event* last(unsigned lane) {
        const auto end = lanes_[lane].end;
        return end == lanes_[lane].next ? nullptr : &events_[lane * stride + end - 1];
    }

  private:
    static constexpr unsigned capacity = 256;  // of a lane; a warp's log stays in the cache
    // What lanes do at the same time is read together, and must not all fall into one set of the cache.
    static constexpr unsigned stride = capacity + 64 / sizeof(Event);
    struct Lane {
        unsigned next = 0, end = 0;
        std::uint32_t before = 0;  // the code of what was last taken out
    };
    void take();
    void give_back();

    std::array<Lane, 32> lanes_;
    // Warps run one after the other, and most leave nothing behind when they stop: the next one takes the
    // same memory, which is in the cache.
    std::unique_ptr<Event[]> events_;
};

/// Accounts for a basic block or request. Returns the steps that it takes, which are not yet in `counts`.
std::uint64_t account(Group, kata::Counts& counts);

}  // namespace meter
