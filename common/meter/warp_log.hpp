// What the lanes of a warp did, put together again as the warp would have executed it.
#pragma once
#include "counts.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
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
    std::uint8_t lane = 0;
};

/// The events of 32 lanes. A lane stands for one thread; the scheduler runs lanes one after the other, a GPU
/// runs them together, so the log groups the events of one instruction: of all lanes that can go on, those at
/// the lowest code address execute next. Compilers lay code out so that this is the order of a GPU, which
/// lets the lanes of a branch run and join behind it, and the lanes of a loop go round before those that have
/// left it.
class WarpLog {
  public:
    WarpLog() : events_(std::make_unique_for_overwrite<Event[]>(32 * capacity)) {}

    void clear() { lanes_ = {}; }
    /// Whether the lane must wait until the log has been read.
    bool full(unsigned lane) const { return lanes_[lane].end == capacity; }
    void add(unsigned lane, Event event) {
        event.lane = static_cast<std::uint8_t>(lane);
        events_[lane * capacity + lanes_[lane].end++] = event;
    }

    /// Accounts for what can be grouped already. `waiting` has a bit for each lane that has ended or waits,
    /// so that nothing of it is to come before the others have gone on.
    void read(std::uint32_t waiting, kata::Counts& counts);

  private:
    static constexpr unsigned capacity = 256;  // of a lane; a warp's log stays in the cache
    struct Lane {
        unsigned next = 0, end = 0;
    };
    std::array<Lane, 32> lanes_;
    std::unique_ptr<Event[]> events_;
};

/// Accounts for one request: the same instruction executed by `lanes` of a warp, in ascending order.
void account(std::span<const Event* const> lanes, kata::Counts& counts);

}  // namespace meter
