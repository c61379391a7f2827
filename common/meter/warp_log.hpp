// Groups the accesses of lanes into instructions of their warp.
#pragma once
#include "counts.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace meter {

/// The kind of an event; `basic_block` is the entry into a basic block.
enum class What : std::uint8_t { basic_block, load, store, atomic };
enum class Space : std::uint8_t { none, global, shared, constant };

/// Kept small: a launch has millions of them.
struct Event {
    std::uintptr_t address;
    std::uint32_t code;  // offset in the module
    std::uint8_t bytes : 7;
    bool copies : 1;  // part of an asynchronous copy
    What what;
    Space space;
    std::uint8_t lane : 5 = 0;
    bool polls : 1 = false;       // a read of a volatile or an atomic
    bool repeats : 1 = false;     // polls the same as the lane's last access
    bool only_reads : 1 = false;  // an atomic that has changed nothing
};

/// The events of one instruction of a warp in one memory, in ascending order of lanes.
using Group = std::span<const Event* const>;

/// The events of 32 lanes. The scheduler runs lanes one after the other, a GPU runs them together, so the log
/// groups the events of one instruction: of all lanes that can go on, those at the lowest code address
/// execute next. Compilers lay code out so that this is the order of a GPU, where the lanes of a branch
/// rejoin after it and lanes that have left a loop wait for the others.
class WarpLog {
    static constexpr unsigned capacity = 256;  // per lane: a warp's log stays in the cache
    // Padding: events of lanes at the same time are read together and must not share one set of the cache.
    static constexpr unsigned line = 64;
    /// A step is twice the code of an event, plus 1 for an access. Most events are basic blocks, which have
    /// nothing but a code; accesses have a row of their own.
    struct Rows {
        std::array<std::array<std::uint32_t, capacity + line / sizeof(std::uint32_t)>, 32> steps;
        std::array<std::array<Event, capacity + line / sizeof(Event)>, 32> accesses;
    };
    struct Lane {
        std::uint32_t next = 0, end = 0;
        std::uint32_t next_access = 0, end_access = 0;
        std::uint32_t before = 0;  // the code of the last event removed
    };

  public:
    /// Adds the events of one lane while its thread runs, in as few instructions as possible.
    class Turn {
      public:
        Turn() = default;
        Turn(WarpLog& log, unsigned lane)
            : lane_(&log.lanes_[lane]),
              steps_(log.rows().steps[lane].data()),
              accesses_(log.rows().accesses[lane].data()),
              number_(lane) {}
        /// True if the lane must wait until the log has been read.
        bool full() const { return lane_->end == capacity; }
        void enter(std::uint32_t code) { steps_[lane_->end++] = 2 * code; }
        void reach(Event event) {
            event.lane = static_cast<std::uint8_t>(number_ & 31);
            accesses_[lane_->end_access++] = event;
            steps_[lane_->end++] = 2 * event.code + 1;
        }
        /// Returns the lane's last event if it is an access and still in the log; else null.
        Event* last() const {
            const bool there = lane_->end != lane_->next && (steps_[lane_->end - 1] & 1) != 0;
            return there ? &accesses_[lane_->end_access - 1] : nullptr;
        }

      private:
        Lane* lane_ = nullptr;
        std::uint32_t* steps_ = nullptr;
        Event* accesses_ = nullptr;
        unsigned number_ = 0;
    };

    void clear() {
        lanes_ = {};
        rest();
    }
    bool full(unsigned lane) const { return lanes_[lane].end == capacity; }
    void add(unsigned lane, const Event& event) {
        Turn turn(*this, lane);
        if (event.what == What::basic_block)
            turn.enter(event.code);
        else
            turn.reach(event);
    }

    /// Calls `account` for each group that is complete. `waiting` has a bit for each lane that has ended or
    /// waits: such a lane adds nothing before the others have gone on. For a basic block, first calls
    /// `enters(code, lanes)` with the number of lanes; if that returns true, skips the group.
    template <class Account, class Enters>
    void read(std::uint32_t waiting, Account account, Enters enters);
    template <class Account>
    void read(std::uint32_t waiting, Account account) {
        read(waiting, account, [](std::uint32_t, unsigned) { return false; });
    }
    /// Called when no lane has its turn: gives back unused memory.
    void rest() {
        if (rows_ && std::all_of(lanes_.begin(), lanes_.end(), [](const Lane& l) { return l.end == 0; }))
            give_back();
    }

    /// Returns the code of the lane's last event; 0 if there was none.
    std::uint32_t last_code(unsigned lane) const {
        const auto end = lanes_[lane].end;
        return rows_ && end > 0 ? rows_->steps[lane][end - 1] / 2 : lanes_[lane].before;
    }

  private:
    Rows& rows() {
        if (!rows_) take();
        return *rows_;
    }
    void take();
    void give_back();
    /// Returns how many numbers are the same in both rows before the first difference.
    static unsigned alike(const std::uint32_t* a, const std::uint32_t* b, unsigned most) {
        unsigned same = 0;
        for (; same + 4 <= most; same += 4) {
            std::uint64_t x[2], y[2];
            std::memcpy(x, a + same, sizeof x);
            std::memcpy(y, b + same, sizeof y);
            if (((x[0] ^ y[0]) | (x[1] ^ y[1])) != 0) break;
        }
        while (same < most && a[same] == b[same]) ++same;
        return same;
    }
    /// One instruction may access several memories through a pointer: a request each.
    template <class Account>
    static void hand_over(std::span<const Event*> group, Account& account) {
        unsigned others = 0;
        for (const auto* e : group) others |= e->space != group.front()->space;
        if (others == 0) return account(Group(group));
        std::stable_sort(group.begin(), group.end(),
                         [](const Event* a, const Event* b) { return a->space < b->space; });
        for (std::size_t from = 0, to = 0; from < group.size(); from = to) {
            while (to < group.size() && group[to]->space == group[from]->space) ++to;
            account(Group(group.subspan(from, to - from)));
        }
    }
    /// Removes events that have been handed over from lanes that are done or full.
    void tidy();

    std::array<Lane, 32> lanes_;
    // Warps run one after the other, and most leave no events when they stop: the next one takes the same
    // memory, which is in the cache.
    std::unique_ptr<Rows> rows_;
    static std::vector<std::unique_ptr<Rows>> spare;
};

template <class Account, class Enters>
void WarpLog::read(std::uint32_t waiting, Account account, Enters enters) {
    if (!rows_) return;
    constexpr auto none = std::numeric_limits<std::uint32_t>::max();
    std::array<const std::uint32_t*, 32> at;
    std::array<std::uint32_t, 32> next;  // the next step of each lane, or `none`
    std::array<const Event*, 32> accesses, group;
    std::array<std::uint8_t, 32> together;
    std::uint32_t at_end = 0;
    const auto look_at = [&](unsigned l) {
        const bool ends = lanes_[l].next == lanes_[l].end;
        next[l] = ends ? none : *at[l];
        at_end |= std::uint32_t{ends} << l;
    };
    for (unsigned l = 0; l < 32; ++l) {
        at[l] = &rows_->steps[l][lanes_[l].next];
        accesses[l] = &rows_->accesses[l][lanes_[l].next_access];
        look_at(l);
    }
    while ((at_end & ~waiting) == 0) {  // else the next event of some lane has not happened yet
        auto lowest = none;
        for (const auto step : next) lowest = std::min(lowest, step);
        if (lowest == none) break;
        unsigned count = 0;
        auto before = none;  // the lowest next step of the other lanes
        for (unsigned l = 0; l < 32; ++l)
            if (next[l] == lowest)
                together[count++] = static_cast<std::uint8_t>(l);
            else
                before = std::min(before, next[l]);
        // These lanes stay together while their steps are the same and lower than those of the others.
        const auto* const steps = at[together[0]];
        unsigned same = lanes_[together[0]].end - lanes_[together[0]].next;
        for (unsigned i = 1; i < count; ++i) {
            const auto l = together[i];
            same = alike(steps, at[l], std::min(same, lanes_[l].end - lanes_[l].next));
        }
        unsigned done = 1;
        if (before == none)
            done = same;
        else
            while (done < same && steps[done] < before) ++done;
        for (unsigned k = 0; k < done; ++k) {
            if ((steps[k] & 1) != 0) {
                for (unsigned i = 0; i < count; ++i) group[i] = accesses[together[i]]++;
                hand_over(std::span(group).first(count), account);
            } else if (!enters(steps[k] / 2, count)) {
                std::array<Event, 32> events;
                for (unsigned i = 0; i < count; ++i) {
                    events[i] = {0, steps[k] / 2, 0, false, What::basic_block, Space::none, together[i]};
                    group[i] = &events[i];
                }
                account(Group(group).first(count));
            }
        }
        for (unsigned i = 0; i < count; ++i) {
            const auto l = together[i];
            at[l] += done;
            lanes_[l].next += done;
            look_at(l);
        }
    }
    for (unsigned l = 0; l < 32; ++l)
        lanes_[l].next_access = static_cast<std::uint32_t>(accesses[l] - rows_->accesses[l].data());
    tidy();
}

/// Adds a basic block or request to `counts`. Returns the steps that it takes, which `counts` does not
/// include.
std::uint64_t account(Group, kata::Counts& counts);

}  // namespace meter
