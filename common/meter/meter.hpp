// The meter turns the accesses of a kernel into counts and findings.
//
// The compiler announces each load and store (-fsanitize=thread) and each basic block
// (-fsanitize-coverage=trace-pc); callbacks.cpp receives these calls. Nothing in this folder may be
// instrumented itself.
#pragma once
#include "meter/chains.hpp"
#include "meter/findings.hpp"
#include "meter/flights.hpp"
#include "meter/locate.hpp"
#include "meter/races.hpp"
#include "meter/regions.hpp"
#include "meter/warp_log.hpp"
#include "simt/block.hpp"
#include "simt/memory.hpp"
#include "simt/probe.hpp"
#include "simt/stacks.hpp"
#include "simt/text.hpp"
#include "watch.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace meter {

/// Counts by instruction.
class Places {
  public:
    kata::Place& at(std::uint32_t code) {
        if (code >= index_.size()) index_.resize(code + 1);
        auto& index = index_[code];
        if (index == 0) {
            all_.push_back({code});
            index = static_cast<std::uint32_t>(all_.size());
        }
        return all_[index - 1];
    }
    const std::vector<kata::Place>& all() const { return all_; }

    void new_launch() { last_.clear(); }

    /// Returns true if the previous request at this place was also by this thread and to the same address.
    bool again(std::uint32_t code, std::uint64_t thread, std::uintptr_t address) {
        last_.resize(all_.size());
        return std::exchange(last_[index_[code] - 1], {thread, address}) == std::pair(thread, address);
    }

  private:
    std::vector<std::pair<std::uint64_t, std::uintptr_t>> last_;  // like all_: a thread and an address
    std::vector<kata::Place> all_;
    std::vector<std::uint32_t> index_;  // for each code: 1 + its index in all_, or 0
};

/// The value that a thread last read from a volatile or an atomic that it may overwrite.
struct Look {
    std::uintptr_t address = 0;
    std::uint64_t value = 0;
};

/// The memory that a thread last polled.
struct Poll {
    std::uintptr_t address = 0;
    std::uint32_t code = 0;
    bool last = false;  // true while the thread has not accessed any other memory since
};

/// The state of the meter for a resident block.
struct Resident {
    static constexpr unsigned looks_of_a_thread = 4;

    // Resident blocks have their shared memory at the same addresses.
    Region static_shared, dynamic_shared;
    Region* last_region = nullptr;
    Flights flights;
    unsigned barriers_passed = 0;
    std::uint64_t bytes_in_flight = 0;  // by asynchronous copies

    // By warp.
    std::vector<WarpLog> logs;
    std::vector<Chain> chains;
    std::vector<Phases> phases;
    std::vector<std::vector<kata::Request>> held;  // requests that may turn out to be vain polls

    // By thread.
    std::vector<std::array<Look, looks_of_a_thread>> looks;
    std::vector<Poll> polls;
    std::vector<std::uint64_t> reads_in_flight;  // reads of shared memory during copies; never reset
};

class Meter final : public simt::Probe {
  public:
    void observation_begins(const kata::Conditions&) override;
    void observation_ends(kata::Observation&) override;
    void launch_begins(const simt::Grid&) override;
    void launch_ends() override;
    void block_begins(const simt::Block&) override;
    void block_ends(const simt::Block&) override;
    void barrier(const simt::Block&) override;
    void warp_synchronised(const simt::Block& block, unsigned warp, unsigned mask) override {
        clocks_.synchronise(block.slot, warp, mask);
    }
    bool has_enough() override { return kata::watcher && kata::watcher->has_enough(); }
    bool sample_ends() override { return kata::watcher && kata::watcher->sample_ends(); }
    void warp_stops(const simt::Block&, unsigned warp) override;
    void synchronising(const void* code) override { enter(code); }
    void fence(const simt::Block& block, const simt::Thread& t) override {
        clocks_.fence(block.slot, t.linear);
    }
    void atomic(const void* address, unsigned bytes, const void* code, simt::AtomicFor,
                bool replaces) override;
    void atomic_load(const void* address, unsigned bytes, const void* code, simt::AtomicFor) override;
    void atomic_store(const void* address, unsigned bytes, const void* code, simt::AtomicFor) override;
    void exchanged(const simt::Block&, unsigned warp, unsigned lanes, const void* code) override;
    void swapped() override {
        if (counted(*simt::running_block)) ++counts_.swaps;
    }
    std::uint64_t copy_begins(const void* to, const void* from, unsigned bytes, unsigned read,
                              const char* name, const void* code) override;
    void copy_arrives(const simt::Copy&) override;
    void copies_awaited() override { counts_.copy_waits += counted(*simt::running_block); }
    void read_only(const void* address, unsigned bytes, const void* code) override;
    std::string line(const void* code) const override;
    std::string callers(const void* code) const override { return callers_of(grid_.image, offset_of(code)); }
    std::string last_line(const simt::Block&, const simt::Thread&) const override;
    std::vector<std::string> parameters() const override {
        return parameters_of(grid_.image, grid_.launch.site.file, grid_.launch.name);
    }
    simt::Footprint footprint() override { return std::exchange(footprint_, {}); }
    std::uint64_t steps() const override { return steps_; }
    std::uint64_t news() const override { return news_; }
    void undefined(const void* code, const std::function<std::string()>& text) override;
    bool in_doubt() const override { return !doubts_.empty(); }
    bool only_cleared() const override;
    void rehearsal_begins() override;
    void rehearsal_ends(bool different) override;
    void host_reaches(const void* address, bool writes, const void* code) override {
        touch_from_host(address, writes ? Verb::write : Verb::read, code);
    }
    bool takes_turn(const simt::Thread& t) override {
        listening_ = observing_ && counted(*simt::running_block);
        if (!listening_) return true;
        turn_ = {resident().logs[t.warp()], t.lane()};
        return !turn_.full();
    }

    /// True if what the running thread does is recorded; false outside of kernels.
    bool listening() const { return listening_; }
    /// True if anything is recorded, including what the host does.
    bool observing() const { return observing_; }

    // On the thread's side.

    void enter(const void* code) {
        if (!listening_) return;
        if (asked_.thread) hear_answer();
        make_room();
        turn_.enter(offset_of(code));
    }
    void touch(const void* address, std::size_t bytes, Verb verb, const void* code, bool copies = false);
    /// Fast path of touch() for plain accesses. Returns false if the access needs touch().
    [[gnu::always_inline]] bool touch_as_usual(const void* address, std::size_t bytes, Verb verb,
                                               const void* code);
    /// Called before a volatile access or an atomic load or store of the running thread, which may yield
    /// here.
    void before_signal(const void* address, std::size_t bytes, Verb verb, const void* code);
    /// Called once an announced access must have happened.
    void settle_overwrite() {
        if (overwrite_.address) tell_overwrite();
    }
    void check_stack(const void* here_on_stack, const void* code);

    /// Reports an index outside its array, whose type is given as "'float [32]'".
    void refuse_index(const std::string& index, const std::string& type, const char* file, unsigned line);

    /// Reports an access of the host, outside of kernels, to memory that on a GPU is the device's.
    void touch_from_host(const void* address, Verb verb, const void* code);

  private:
    bool counted(const simt::Block& block) const { return !only_ || *only_ == block.linear; }
    Resident& resident(const simt::Block& block) { return residents_[block.slot]; }
    Resident& resident() { return resident(*simt::running_block); }
    const Resident& resident() const { return residents_[simt::running_block->slot]; }
    std::uint32_t offset_of(const void* code) const {
        return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(code) - grid_.image.base);
    }
    /// Makes room for one more event of the running thread. The thread may have to wait for it.
    void make_room() {
        ++steps_;
        if (turn_.full()) simt::pause();
    }
    void log(const Event& event) {
        if (event.space == Space::global && event.what == What::load && !event.polls) {
            auto& phases = resident().phases[simt::running->warp()];
            counts_.load_phases += phases.loads(simt::running->lane());
        }
        make_room();
        turn_.reach(event);
    }

    // Counting, by warp: counting.cpp.

    void read_log(const simt::Block&, unsigned warp, std::uint32_t waiting);
    /// True if a group counts. A poll may later turn out to be redundant.
    enum class Taken { now, perhaps_later, no };
    Taken take(Group, std::uint64_t thread, Chain&, kata::Counts&);
    /// Returns the time at which the memory that the group reads was last written in this launch.
    std::uint64_t written_to(Group);
    void write(Group, std::uint64_t time, bool counted, kata::Place& here);
    void end_polling(const simt::Block&);
    kata::Array array_at(std::uintptr_t address);
    void show_launch();
    void show(const simt::Block&, unsigned warp, Group, Taken, std::uint64_t begins);
    /// Shows the requests held back as possibly redundant polls, and returns the time at which they end.
    std::uint64_t show_held(const simt::Block&, unsigned warp, std::uint64_t begins);
    /// Returns a number that changes when the running thread reads shared memory during copies and when its
    /// block passes a barrier: its block may have computed meanwhile.
    std::uint64_t done_meanwhile() const {
        return resident().reads_in_flight[simt::running->linear] + resident().barriers_passed;
    }

    // Polls, and letting other blocks in between two accesses: signals.cpp.

    bool polls_again(std::uintptr_t address, Verb verb, std::uint32_t code);
    /// Remembers the memory that an atomic is about to update. hear_answer() sees whether it has changed.
    void ask(const void* address, std::size_t bytes);
    void hear_answer();
    void forget_look(const void* address);
    /// Called before an atomic of the running thread: what the thread knows of the word may be outdated by
    /// then.
    void let_others_in(const void* address);
    void tell_overwrite();

    // Memory: memory.cpp.

    void find_memory();
    Region* global_at(std::uintptr_t address);
    Region* find_region(std::uintptr_t address);
    Region* region_of(std::uintptr_t address);
    /// Returns the region that this instruction accessed before, if it contains `address` and plain accesses
    /// to it may take the fast path; else null.
    Region* usual_region(std::uint32_t code, std::uintptr_t address) const {
        auto* const region = code < reached_by_.size() ? reached_by_[code] : nullptr;
        const auto slot = simt::running_block->slot;
        return region && (region->slots >> slot & 1) != 0 && region->range.contains(address) ? region
                                                                                             : nullptr;
    }
    Shadow& shadow_of(Region&);
    /// Checks a logged access for races, uninitialized reads and copies in flight.
    void look_for_clashes(Region&, std::uintptr_t address, std::size_t bytes, Verb verb, std::uint32_t code);

    // Errors that end the launch: bounds.cpp.

    /// Ends the launch if the module has this variable for its host code alone.
    void hold_to_device(std::uintptr_t address, std::size_t bytes, Verb verb, const void* code);
    std::optional<std::string> host_pointer_at(std::uintptr_t address, std::uintptr_t near) const;
    std::string remedy_past_the_end(const simt::Range&, const std::string& name, std::uintptr_t address,
                                    std::size_t bytes) const;
    std::string factors_of(std::uint64_t count) const;
    std::string misaligned_row(std::uint64_t offset, std::uint64_t bytes, std::uint64_t size) const;
    [[noreturn]] void refuse(std::uintptr_t address, std::size_t bytes, Verb verb, const void* code);

    // Texts: finding_text.cpp, and race_text.cpp for races.

    std::string line(std::uint32_t code) const { return line_of(grid_.image, code); }
    std::string here() const { return simt::name_of(simt::running->index, simt::running_block->index); }
    std::string name_of(const Region&) const;
    std::string text_of(const Region&, std::uintptr_t address, std::size_t bytes) const;
    std::string written_so_far(const Region&, std::uintptr_t address, std::size_t bytes) const;
    void miss_shared_memory();
    void notice_unfilled(std::uintptr_t address, std::size_t bytes, std::uint32_t code);
    void tell_unwritten(const Region&, std::uintptr_t address, std::size_t bytes, std::uint32_t code);
    void tell_too_early(const Region&, std::uintptr_t address, std::size_t bytes, Verb verb,
                        std::uint32_t code, std::uint32_t copy);
    void tell_read_only(const Region&, std::uintptr_t address, std::size_t bytes, std::uint32_t writes,
                        std::uint32_t reads);
    void tell_clash(const Region&, std::uintptr_t address, std::size_t bytes, Verb verb, std::uint32_t code,
                    const Record&);
    struct Position {
        uint3 thread, block;
    };
    Position position_of(const Record&) const;
    std::string named_number(std::uint64_t number) const;
    std::optional<std::string> why_same_index(const Region&, std::uintptr_t address, std::size_t bytes,
                                              std::uint32_t code, const Record&) const;
    std::string advice(const Region&, std::uintptr_t address, std::size_t bytes, Verb verb,
                       std::uint32_t code, const Record&) const;

    // State of the observation.
    bool observing_ = false;
    std::optional<std::uint64_t> only_;
    bool looks_for_races_ = true;  // looking for races needs a shadow of all accessed memory
    Findings findings_;
    Places places_;
    kata::Counts counts_;         // counts of this launch, while one runs
    kata::Counts elsewhere_;      // in blocks that are not counted
    kata::Counts before_launch_;  // counts of earlier launches
    std::uint64_t steps_ = 0, news_ = 0;
    bool rehearsing_ = false;
    /// Counts, places and reported lines from before a rehearsal, which leaves no trace in them.
    std::tuple<kata::Counts, Places, decltype(Findings::reported)> before_rehearsal_;
    /// Reads of uninitialized shared memory by line, until it is known whether they change anything.
    std::map<std::string, std::string> doubts_, doubts_before_;
    simt::Range unfilled_;  // the variable that was last found not to be filled

    // State of the launch.
    simt::Grid grid_{};
    bool sampled_ = false;  // some blocks are not counted
    bool mixed_ = false;    // several blocks run alternately
    std::uint32_t epoch_ = 0;
    std::uint64_t barriers_ = 0, in_shared_ = 0;  // barriers and accesses to shared memory, of all blocks
    std::vector<Region*> reached_by_;             // the last region that each code has reached
    std::set<std::uint32_t> doubted_;             // code that has read what is undefined
    std::vector<std::uint64_t> work_of_blocks_;
    std::uint64_t longest_ = 0, contention_ = 0;
    bool polled_ = false;
    bool overlaps_ = false;      // the launch may run beside other work: its footprint is taken
    simt::Footprint footprint_;  // for a launch that overlaps
    Clocks clocks_;

    // Memory.
    simt::Range arguments_, constants_;
    std::vector<Region> globals_;
    Region variables_;                         // the module's: __device__ ones, and the host's
    std::array<simt::Range, 16> of_device_{};  // the parts of it last found to be the device's
    std::size_t next_of_device_ = 0;
    Region* last_global_ = nullptr;
    std::array<Resident, 2> residents_;

    // State of the running thread.
    bool listening_ = false;  // or of the last one that ran
    WarpLog::Turn turn_;
    struct {
        const simt::Thread* thread = nullptr;
        const void* address = nullptr;
        std::size_t bytes = 0;
        std::uint64_t held = 0;
        std::uint32_t unwritten = 0;  // the code that has read an unwritten byte
    } asked_;
    bool replaces_ = false;  // the atomic: its new value does not depend on the old one

    /// A write over a value that another thread has changed since this one read it. The change is lost,
    /// unless both write the same.
    struct Overwrite {
        const void* address = nullptr;
        std::size_t bytes = 0;
        std::uint64_t value = 0;  // the value that is lost
        std::string text;
    };
    Overwrite overwrite_;
    std::vector<Overwrite> repeated_;     // overwritten by the same value: harmless for a flag, not for a sum
    unsigned gave_way_ = 0, let_in_ = 0;  // yields before such writes and before atomics, in this launch
};

/// Hidden, so that the callbacks access it without a look-up in the symbol table.
[[gnu::visibility("hidden")]] extern Meter the_meter;

inline bool Meter::touch_as_usual(const void* pointer, std::size_t bytes, Verb verb, const void* code) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    const auto at = offset_of(code);
    auto* const region = usual_region(at, address);
    if (!region) return simt::stacks.contains(address) || arguments_.contains(address);
    if (bytes > region->range.end - address || (address & (bytes - 1)) != 0 || asked_.thread || polled_ ||
        !resident().flights.none())
        return false;
    in_shared_ += region->space == Space::shared;
    news_ += writes(verb);
    log({address, at, static_cast<std::uint8_t>(bytes), false, writes(verb) ? What::store : What::load,
         region->space});
    if (verb == Verb::read && bytes == 4 && region->shadow &&
        region->shadow->read_once_more(address - region->range.begin, at, clocks_, simt::running_block->slot,
                                       simt::running->linear))
        return true;
    look_for_clashes(*region, address, bytes, verb, at);
    return true;
}

}  // namespace meter
