// What the lanes of a warp did, put together again as the warp would have executed it.
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

/// What an event of a lane was; `basic_block` is the entry into a basic block.
enum class What : std::uint8_t { basic_block, load, store, atomic };
enum class Space : std::uint8_t { none, global, shared, constant };

/// Small, for a launch makes millions of them.
struct Event {
    std::uintptr_t address;
    std::uint32_t code;  // offset in the module
    std::uint8_t bytes : 7;
    bool copies : 1;  // asynchronously: nothing waits for what it loads here
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
    static constexpr unsigned capacity = 256;  // of a lane; a warp's log stays in the cache
    // What lanes do at the same time is read together, and must not all fall into one set of the cache.
    static constexpr unsigned line = 64;
    /// Most events are basic blocks, of which nothing is to be known but the code: what a lane did is a row
    /// of numbers, each twice its code, and 1 more for an access, and its accesses follow in their own row.
    struct Rows {
        std::array<std::array<std::uint32_t, capacity + line / sizeof(std::uint32_t)>, 32> steps;
        std::array<std::array<Event, capacity + line / sizeof(Event)>, 32> accesses;
    };
    struct Lane {
        std::uint32_t next = 0, end = 0;
        std::uint32_t next_access = 0, end_access = 0;
        std::uint32_t before = 0;  // the code of what was last taken out
    };

  public:
    /// One lane, as long as its thread runs, for which it adds events in as few instructions as can be.
    class Turn {
      public:
        Turn() = default;
        Turn(WarpLog& log, unsigned lane)
            : lane_(&log.lanes_[lane]),
              steps_(log.rows().steps[lane].data()),
              accesses_(log.rows().accesses[lane].data()),
              number_(lane) {}
        /// Whether the lane must wait until the log has been read.
        bool full() const { return lane_->end == capacity; }
        void enter(std::uint32_t code) { steps_[lane_->end++] = 2 * code; }
        void reach(Event event) {
            event.lane = static_cast<std::uint8_t>(number_ & 31);
            accesses_[lane_->end_access++] = event;
            steps_[lane_->end++] = 2 * event.code + 1;
        }
        /// What the lane has added last, if that is still there and an access.
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

    /// Hands over, group by group, what can be grouped already. `waiting` has a bit for each lane that has
    /// ended or waits, so that nothing of it is to come before the others have gone on. A basic block is
    /// offered first by `enters(code, lanes)`, how many lanes enter it, who may have no need of the group.
    template <class Account, class Enters>
    void read(std::uint32_t waiting, Account account, Enters enters);
    template <class Account>
    void read(std::uint32_t waiting, Account account) {
        read(waiting, account, [](std::uint32_t, unsigned) { return false; });
    }
    /// To be called when no lane has its turn: gives memory back that holds nothing.
    void rest() {
        if (rows_ && std::all_of(lanes_.begin(), lanes_.end(), [](const Lane& l) { return l.end == 0; }))
            give_back();
    }

    /// The code of what the lane has added last; 0 if that was nothing.
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
    /// How many of the numbers are the same in both rows, up to the first that is not.
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
    /// One instruction may reach several memories through a pointer; each is a request of its own.
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
    /// Forgets what has been handed over, where all is or there is need of room.
    void tidy();

    std::array<Lane, 32> lanes_;
    // Warps run one after the other, and most leave nothing behind when they stop: the next one takes the
    // same memory, which is in the cache.
    std::unique_ptr<Rows> rows_;
    static std::vector<std::unique_ptr<Rows>> spare;
};

template <class Account, class Enters>
void WarpLog::read(std::uint32_t waiting, Account account, Enters enters) {
    if (!rows_) return;
    constexpr auto none = std::numeric_limits<std::uint32_t>::max();
    std::array<const std::uint32_t*, 32> at;
    std::array<std::uint32_t, 32> next;  // what each lane does next, or `none`
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
    while ((at_end & ~waiting) == 0) {  // else there is a lane whose next event has not happened yet
        auto lowest = none;
        for (const auto step : next) lowest = std::min(lowest, step);
        if (lowest == none) break;
        unsigned count = 0;
        auto before = none;  // what the other lanes do next
        for (unsigned l = 0; l < 32; ++l)
            if (next[l] == lowest)
                together[count++] = static_cast<std::uint8_t>(l);
            else
                before = std::min(before, next[l]);
        // These lanes stay together as long as they do the same and nobody else comes to it.
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

/// Accounts for a basic block or request. Returns the steps that it takes, which are not yet in `counts`.
std::uint64_t account(Group, kata::Counts& counts);

}  // namespace meter
