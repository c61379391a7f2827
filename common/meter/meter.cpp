// The meter: receives the calls that -fsanitize=thread and -fsanitize-coverage=trace-pc put into a kernel,
// one before every load and store and one at the start of every basic block, and makes of them counts and
// findings.
//
// The names of these callbacks are an agreement between g++ and its sanitizer runtimes, which are not linked.
// This file and what it calls must not be instrumented itself.
#include "meter/chains.hpp"
#include "meter/flights.hpp"
#include "meter/locate.hpp"
#include "meter/races.hpp"
#include "meter/spare.hpp"
#include "meter/warp_log.hpp"
#include "simt/diagnose.hpp"
#include "simt/order.hpp"
#include "simt/scheduler.hpp"
#include "simt/stacks.hpp"
#include "watch.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace meter {

namespace {

constexpr std::size_t most_findings = 8;

bool is_built_in(std::uintptr_t address) {
    const auto in = [address](const auto& v) {
        const auto begin = reinterpret_cast<std::uintptr_t>(&v);
        return simt::Range{begin, begin + sizeof v}.contains(address);
    };
    return in(threadIdx) || in(blockIdx) || in(blockDim) || in(gridDim);
}

std::uint64_t passes_of(const kata::Counts& c) {
    return c.shared_load.transactions + c.shared_store.transactions + c.shared_atomic.transactions;
}

std::uint64_t value_at(const void* address, std::size_t bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, address, std::min(bytes, sizeof value));
    return value;
}

/// A piece of memory that kernels reach, with its shadow.
struct Region {
    simt::Range range;
    Space space = Space::none;
    std::string name;
    bool written = false;  // before the launch
    std::uint64_t serial = 0;
    Spare<Shadow>::Pointer shadow;  // made at the first access
    std::uint32_t epoch = 0;
    Spare<Words>::Pointer words;                  // made at the first write
    std::uint32_t written_in = 0;                 // the last epoch of a write
    std::vector<simt::Range> written_parts = {};  // before the launch, where not all is; offsets
    unsigned slots = 0;  // a bit for each resident block whose plain accesses need no other look than usual
};

void mark_written(Region& region) {
    region.shadow->written = region.written;
    region.shadow->written_parts = region.written_parts;
}

class Meter final : public simt::Probe {
  public:
    void observation_begins(const kata::Conditions& conditions) override {
        counts_ = {};
        findings_.clear();
        hints_.clear();
        causes_.clear();
        unfilled_ = {};
        told_.clear();
        only_ = conditions.only_block;
        places_.clear();
        place_of_.clear();
        observing_ = conditions.metered;
        listening_ = false;
        overwrite_ = {};
        looks_for_races_ = !conditions.sample;
    }
    void observation_ends(kata::Observation& seen) override {
        observing_ = false;
        seen.counts = counts_;
        seen.findings = std::move(findings_);
        seen.places = places_;
        seen.hints = std::move(hints_);
        seen.causes = std::move(causes_);
        seen.line_of = [image = image_](const kata::Place& place) { return line_of(image, place.code); };
    }

    void launch_begins(const simt::Grid& grid) override;
    void launch_ends() override;
    void block_begins(const simt::Block&) override;
    void block_ends(const simt::Block& block) override;
    void barrier(const simt::Block& block) override;
    void warp_synchronised(const simt::Block& block, unsigned warp, unsigned mask) override {
        clocks_.synchronise(block.slot, warp, mask);
    }
    bool has_enough() override;
    bool sample_ends() override;
    void warp_stops(const simt::Block& block, unsigned warp) override;
    void synchronising(const void* code) override { enter(code); }
    void fence(const simt::Block& block, const simt::Thread& t) override {
        clocks_.fence(block.slot, t.linear);
    }
    void atomic(const void* address, unsigned bytes, const void* code, simt::AtomicFor whom) override {
        settle_overwrite();
        let_others_in(address);
        forget_look(address);
        touch(address, bytes, whom == simt::AtomicFor::device ? Verb::update : Verb::update_in_block, code);
    }
    void exchanged(const simt::Block& block, unsigned warp, unsigned lanes, const void* code) override {
        const auto present = ~0u >> (32 - block.lanes(warp)) & ~block.in_warps[warp].gone;
        if (!counted(block) || !phases_[block.slot][warp].exchange(lanes, present, offset_of(code))) return;
        ++counts_.exchanges;
        ++place(offset_of(code)).exchanges;
    }
    void swapped() override {
        if (counted(*simt::running_block)) ++counts_.swaps;
    }
    void atomic_load(const void* address, unsigned bytes, const void* code, simt::AtomicFor whom) override {
        settle_overwrite();
        before_signal(address, bytes, Verb::atomic_read, code);
        touch(address, bytes,
              whom == simt::AtomicFor::device ? Verb::atomic_read : Verb::atomic_read_in_block, code);
    }
    void atomic_store(const void* address, unsigned bytes, const void* code, simt::AtomicFor whom) override {
        settle_overwrite();
        before_signal(address, bytes, Verb::atomic_write, code);
        touch(address, bytes,
              whom == simt::AtomicFor::device ? Verb::atomic_write : Verb::atomic_write_in_block, code);
    }
    std::uint64_t copy_begins(const void* to, const void* from, unsigned bytes, unsigned read,
                              const char* name, const void* code) override;
    void copy_arrives(const simt::Copy&) override;
    void copies_awaited() override { counts_.copy_waits += counted(*simt::running_block); }
    void read_only(const void* address, unsigned bytes, const void* code) override;
    std::string line(const void* code) const override {  // also of a launch that nobody listens to
        const auto image = simt::image_of(code);
        return line_of(image,
                       static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(code) - image.base));
    }
    std::string callers(const void* code) const override { return callers_of(image_, offset_of(code)); }
    std::string last_line(const simt::Block& block, const simt::Thread& t) const override {
        const auto code =
            t.updated ? offset_of(t.updated_in) : logs_[block.slot][t.warp()].last_code(t.lane());
        return code == 0 ? "" : line(code);
    }
    std::vector<std::string> parameters() const override {
        return parameters_of(image_, launch_.site.file, launch_.name);
    }
    simt::Footprint footprint() override { return std::exchange(footprint_, {}); }
    std::uint64_t steps() const override { return steps_; }
    std::uint64_t news() const override { return news_; }
    bool in_doubt() const override { return !doubts_.empty(); }
    bool only_cleared() const override;
    void rehearsal_begins() override {
        before_rehearsal_ = {counts_, places_, place_of_, told_};
        doubts_before_ = std::exchange(doubts_, {});
        rehearsing_ = true;
    }
    void rehearsal_ends(bool different) override {
        rehearsing_ = false;
        std::tie(counts_, places_, place_of_, told_) = std::move(before_rehearsal_);
        for (auto& [at, text] : doubts_before_)
            if (different && findings_.size() < most_findings && told_.insert({at, ""}).second)
                tell(std::move(text));
    }
    void host_reaches(const void* address, bool writes, const void* code) override {
        touch_from_host(address, writes ? Verb::write : Verb::read, code);
    }
    bool takes_turn(const simt::Thread& t) override {
        listening_ = observing_ && counted(*simt::running_block);
        if (!listening_) return true;
        turn_ = {log_of(t), t.lane()};
        return !turn_.full();
    }

    /// Whether anybody wants to know what the running thread does; false outside of kernels.
    bool listening() const { return listening_; }
    /// Whether anybody wants to know of anything, also of what the host does.
    bool observing() const { return observing_; }

    /// On the thread's side.
    void enter(const void* code) {
        if (!listening_) return;
        if (asked_.thread) hear_answer();
        make_room();
        turn_.enter(offset_of(code));
    }
    void touch(const void* address, std::size_t bytes, Verb verb, const void* code, bool copies = false);
    /// The same for the most part of all plain accesses, in as few instructions as can be; false where that
    /// is not enough.
    [[gnu::always_inline]] bool touch_as_usual(const void* address, std::size_t bytes, Verb verb,
                                               const void* code);
    /// To be called before a volatile access or an atomic load or store of the running thread, which may give
    /// way here.
    void before_signal(const void* address, std::size_t bytes, Verb verb, const void* code);
    void forget_look(const void* address);
    /// To be called before an atomic of the running thread: what it knows of the word may be old by then.
    void let_others_in(const void* address);
    /// To be called when an access that has been announced must have happened.
    void settle_overwrite() {
        if (overwrite_.address) tell_overwrite();
    }
    void check_stack(const void* here_on_stack, const void* code);

    /// An index that its array does not have, of which the type is given as "'float [32]'".
    void refuse_index(const std::string& index, const std::string& type, const char* file, unsigned line);

    /// Outside of kernels: the host reaches memory, which on a GPU must not be the device's.
    void touch_from_host(const void* address, Verb verb, const void* code);

  private:
    void tell_overwrite();
    bool counted(const simt::Block& block) const { return !only_ || *only_ == block.linear; }
    WarpLog& log_of(const simt::Thread& t) { return logs_[simt::running_block->slot][t.warp()]; }
    std::uint32_t offset_of(const void* code) const {
        return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(code) - image_.base);
    }
    /// For a further event of the running thread, which may have to wait for it.
    void make_room() {
        ++steps_;
        if (turn_.full()) simt::pause();
    }
    void log(const Event& event) {
        if (event.space == Space::global && event.what == What::load && !event.polls) {
            auto& phases = phases_[simt::running_block->slot][simt::running->warp()];
            counts_.load_phases += phases.loads(simt::running->lane());
        }
        make_room();
        turn_.reach(event);
    }

    /// What a thread last polled, and whether it has done nothing else with memory since.
    struct Poll {
        std::uintptr_t address = 0;
        std::uint32_t code = 0;
        bool last = false;
    };
    bool polls_again(std::uintptr_t address, Verb verb, std::uint32_t code);
    /// An atomic of the running thread may change memory: what is there is known when it goes on.
    void ask(const void* address, std::size_t bytes);
    void hear_answer();
    void read_log(const simt::Block&, unsigned warp, std::uint32_t waiting);
    /// Whether a group counts; what is polled may turn out to have been in vain.
    enum class Taken { now, perhaps_later, no };
    kata::Array array_at(std::uintptr_t address);
    void show_launch();
    void show(const simt::Block&, unsigned warp, Group, Taken, std::uint64_t begins);
    /// What was held back because it might have been in vain; says when it ends.
    std::uint64_t show_held(const simt::Block&, unsigned warp, std::uint64_t begins);
    Taken take(Group, Chain&, kata::Counts&);
    void end_polling(const simt::Block&);
    kata::Place& place(std::uint32_t code);
    /// A number that is another one when the running thread has read shared memory, or come to a barrier,
    /// since its copy began: then its block may have multiplied meanwhile.
    std::uint64_t done_meanwhile() const {
        const auto slot = simt::running_block->slot;
        return read_meanwhile_[slot][simt::running->linear] + barriers_passed_[slot];
    }
    Region* global_at(std::uintptr_t address);
    /// When what the group reads was last written, in this launch.
    std::uint64_t written_to(Group);
    void write(Group, std::uint64_t time, bool counted);

    Region* region_of(std::uintptr_t address);
    /// The same, where it is what this instruction has reached before and needs no other look; else null.
    Region* usual_region(std::uint32_t code, std::uintptr_t address) const {
        auto* const region = code < reached_by_.size() ? reached_by_[code] : nullptr;
        const auto slot = simt::running_block->slot;
        return region && (region->slots >> slot & 1) != 0 && region->range.contains(address) ? region
                                                                                             : nullptr;
    }
    Shadow& shadow_of(Region&);
    /// What else is to be done about an access that has been logged.
    void look_for_clashes(Region&, std::uintptr_t address, std::size_t bytes, Verb verb, std::uint32_t code);
    Region* find_region(std::uintptr_t address);
    /// Refuses what the module has for its host code alone.
    void hold_to_device(std::uintptr_t address, std::size_t bytes, Verb verb, const void* code);
    std::optional<std::string> host_pointer_at(std::uintptr_t address, std::uintptr_t near) const;
    [[noreturn]] void refuse(std::uintptr_t address, std::size_t bytes, Verb verb, const void* code);
    std::string name_of(const Region&) const;
    void miss_shared_memory();
    void notice_unfilled(std::uintptr_t address, std::size_t bytes, std::uint32_t code);
    std::string text_of(const Region&, std::uintptr_t address, std::size_t bytes) const;
    std::string named_number(std::uint64_t number) const;
    std::optional<std::string> why_same_index(const Region&, std::uintptr_t address, std::size_t bytes,
                                              std::uint32_t code, const Record&) const;
    std::string advice(const Region&, std::uintptr_t address, std::size_t bytes, Verb verb,
                       std::uint32_t code, const Record&) const;
    void tell_clash(const Region&, std::uintptr_t address, std::size_t bytes, Verb verb, std::uint32_t code,
                    const Record&);
    void tell_unwritten(const Region&, std::uintptr_t address, std::size_t bytes, std::uint32_t code);
    void tell_too_early(const Region&, std::uintptr_t address, std::size_t bytes, Verb verb,
                        std::uint32_t code, std::uint32_t copy);
    void tell_read_only(const Region&, std::uintptr_t address, std::size_t bytes, std::uint32_t writes,
                        std::uint32_t reads);
    void tell(std::string text) {
        if (!rehearsing_) findings_.push_back(std::move(text));
    }
    std::string here() const { return simt::name_of(simt::running->index, simt::running_block->index); }
    struct Who {
        uint3 thread, block;
    };
    Who who_did(const Record&) const;
    std::string name_of(const Record&) const;
    std::string line(std::uint32_t code) const { return line_of(image_, code); }

    kata::Counts counts_;         // of this launch, while one runs
    kata::Counts elsewhere_;      // in blocks that are not to be counted
    kata::Counts before_launch_;  // of those before it
    std::uint64_t blocks_ = 0;    // of this launch, counted or not
    bool sampled_ = false;        // some are not
    std::uint64_t steps_ = 0, news_ = 0;
    std::vector<std::string> findings_, hints_, causes_;
    // Reads of shared memory that nobody wrote, by line, until it is known whether they change anything.
    std::map<std::string, std::string> doubts_, doubts_before_;
    std::set<std::uint32_t> doubted_;  // the code that did so in this launch
    bool rehearsing_ = false;
    std::set<std::pair<std::string, std::string>> told_;  // the two lines of a finding
    std::optional<std::uint64_t> only_;
    bool observing_ = false;
    bool listening_ = false;       // to the running thread, or to the one that was last
    WarpLog::Turn turn_;           // its
    bool looks_for_races_ = true;  // which needs a shadow of all that is reached

    simt::Image image_;
    simt::Launch launch_{};
    std::uint64_t barriers_ = 0, in_shared_ = 0;  // in this launch, by any block
    std::vector<Region*> reached_by_;             // by code, in this launch
    dim3 block_dim_, grid_dim_;
    std::size_t shared_limit_ = 0;
    simt::Range arguments_, constants_, unfilled_;  // the last one, the variable of which it was told
    std::vector<Region> globals_;
    Region variables_;                         // the module's: __device__ ones, and the host's
    std::array<simt::Range, 16> of_device_{};  // what kernels have reached there and may, the last of it
    std::size_t next_of_device_ = 0;
    std::array<Region, 2> static_shared_, dynamic_shared_;  // of each resident block
    // Of each resident block, for they have their shared memory at the same addresses.
    std::array<Region*, 2> last_{};
    std::uint32_t epoch_ = 0;
    std::array<std::vector<WarpLog>, 2> logs_;
    /// What a thread last read of a volatile or an atomic, of each thread that may overwrite it.
    struct Look {
        std::uintptr_t address = 0;
        std::uint64_t value = 0;
    };
    static constexpr unsigned looks = 4;  // the last of a thread
    std::array<std::vector<std::array<Look, looks>>, 2> looks_;
    /// A write of what somebody else has changed since it was read; lost, unless it changes nothing.
    struct Overwrite {
        const void* address = nullptr;
        std::size_t bytes = 0;
        std::uint64_t value = 0;  // that is lost
        std::string text;
    };
    Overwrite overwrite_;
    std::vector<Overwrite> repeated_;  // by the same value, which a flag bears and a sum does not
    unsigned gave_way_ = 0;            // before such writes, in this launch
    unsigned let_in_ = 0;              // others, before atomics, in this launch
    bool mixed_ = false;               // several blocks run alternately
    std::array<Flights, 2> flights_;   // of each resident block
    Clocks clocks_;

    std::array<std::vector<Chain>, 2> chains_;  // of the warps of each resident block
    std::array<unsigned, 2> barriers_passed_{};
    std::array<std::vector<Phases>, 2> phases_;       // of these warps
    std::array<std::uint64_t, 2> bytes_under_way_{};  // by copies of each resident block
    /// How often each thread has read shared memory while copies were under way; never set back.
    std::array<std::vector<std::uint64_t>, 2> read_meanwhile_;
    std::array<std::vector<std::vector<kata::Request>>, 2> held_;  // of each warp, where somebody watches
    Region* last_reached_ = nullptr;
    std::vector<std::uint64_t> work_of_blocks_;   // in this launch
    std::uint64_t longest_ = 0, contention_ = 0;  // in this launch
    std::array<std::vector<Poll>, 2> polls_;      // of the threads of each resident block
    bool polled_ = false;                         // in this launch
    std::vector<kata::Place> places_;
    std::vector<std::uint32_t> place_of_;  // by code: 1 + the index in places_, or 0
    /// What was counted and told before a launch is repeated, which is not counted.
    std::tuple<kata::Counts, std::vector<kata::Place>, std::vector<std::uint32_t>, decltype(told_)>
        before_rehearsal_;
    bool overlaps_ = false;      // this launch may, so that its footprint is taken
    simt::Footprint footprint_;  // of a launch that does
    struct {
        const simt::Thread* thread = nullptr;
        const void* address = nullptr;
        std::size_t bytes = 0;
        std::uint64_t held = 0;
        std::uint32_t unwritten = 0;  // the code that has asked for what nobody has written
    } asked_;
};

Meter the_meter;

void Meter::launch_begins(const simt::Grid& grid) {
    before_launch_ = std::exchange(counts_, {});
    counts_.launches = 1;
    blocks_ = std::uint64_t{grid.grid_dim.x} * grid.grid_dim.y * grid.grid_dim.z;
    sampled_ = grid.conditions.one_in > 1 || grid.conditions.sample;
    ++epoch_;
    last_ = {};
    if (image_.path != grid.image.path) {  // places of another module: a step has one
        places_.clear();
        place_of_.clear();
    }
    image_ = grid.image;
    launch_ = grid.launch;
    barriers_ = in_shared_ = 0;
    reached_by_.clear();
    block_dim_ = grid.block_dim;
    grid_dim_ = grid.grid_dim;
    shared_limit_ = grid.shared_limit;
    mixed_ = grid.conditions.order == kata::Order::shuffled &&
             grid.grid_dim.x * grid.grid_dim.y * grid.grid_dim.z > 1;
    gave_way_ = let_in_ = 0;
    doubts_.clear();
    doubted_.clear();
    overwrite_ = {};
    repeated_.clear();
    const auto address = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p); };
    arguments_ = {address(grid.launch.arguments),
                  address(grid.launch.arguments) + grid.launch.arguments_bytes};
    constants_ = {address(grid.launch.constants), address(grid.launch.constants_end)};
    // Shadows of buffers that are still there are kept: clearing them would cost more than the epoch does.
    std::vector<Region> globals;
    for (const auto& a : simt::allocations()) {
        auto old = std::find_if(globals_.begin(), globals_.end(),
                                [&](const Region& r) { return r.serial == a.serial; });
        const auto name = a.origin.empty() ? a.name : a.name + " in " + a.origin;
        // What blocks write that are not counted is written, too.
        Region region{a.range,  Space::global, name,   a.written || sampled_ || only_,
                      a.serial, nullptr,       epoch_, nullptr};
        if (old != globals_.end()) {
            region.shadow = std::move(old->shadow);
            region.words = std::move(old->words);
        }
        region.slots = overlaps_ ? 0 : ~0u;
        for (const auto& part : a.written_parts)
            region.written_parts.push_back({part.begin - a.range.begin, part.end - a.range.begin});
        if (region.shadow) mark_written(region);
        globals.push_back(std::move(region));
    }
    globals_ = std::move(globals);
    if (!rehearsing_) footprint_ = {};
    overlaps_ = !rehearsing_ && simt::may_overlap(grid.launch.stream);
    if (variables_.range.begin != image_.writable.begin)
        variables_ = {image_.writable, Space::global, "a __device__ variable", true, 0, nullptr, 0, nullptr};
    variables_.epoch = epoch_;
    of_device_ = {};
    last_reached_ = nullptr;
    work_of_blocks_.clear();
    longest_ = contention_ = 0;
    polled_ = false;
    asked_ = {};
    if (kata::watcher && !rehearsing_) show_launch();
}

void Meter::launch_ends() {
    listening_ = false;
    settle_overwrite();
    miss_shared_memory();
    for (const auto& lost : repeated_)
        if (value_at(lost.address, lost.bytes) != lost.value) tell(lost.text);
    clocks_.end_launch();
    // All blocks are to be told of, where only some have been counted.
    const double times = sampled_ && counts_.blocks > 0
                             ? static_cast<double>(blocks_) / static_cast<double>(counts_.blocks)
                             : 1;
    if (times != 1) counts_.scale(times);
    contention_ = kata::scaled(contention_, times);
    counts_.span += std::max(longest_, contention_);
    const auto of_busiest = kata::scaled(busiest(std::exchange(work_of_blocks_, {})), times);
    counts_.busiest += of_busiest;
    counts_.makespan += std::max({longest_ * kata::machine::latency, contention_, of_busiest});
    counts_.contention += contention_;
    counts_ += std::exchange(before_launch_, {});
}

/// A thread has read a zero in constant memory: it may be what every variable begins with.
void Meter::notice_unfilled(std::uintptr_t address, std::size_t bytes, std::uint32_t code) {
    if (rehearsing_ || unfilled_.contains(address) || simt::host_has_filled(address)) return;
    const auto variable = simt::variable_at(image_, address);
    if (!variable || !variable->range.contains(address)) return;
    unfilled_ = variable->range;
    if (!told_.insert({variable->name, "unfilled"}).second) return;
    causes_.push_back('"' + variable->name + "\" is read in " + line(code) + ", at element " +
                      std::to_string((address - variable->range.begin) / bytes) +
                      ", where the host has put nothing since the step was called: is there a "
                      "cudaMemcpyToSymbol in front of the launch, and does it copy all bytes?");
}

/// Threads that wait for each other have something in common, and local arrays are no such thing.
void Meter::miss_shared_memory() {
    if (barriers_ == 0) return;
    if (in_shared_ > 0) {
        if (!told_.insert({launch_.name, "a __shared__ too few"}).second) return;
        if (const auto array = local_array_of_threads(image_, launch_.site.file, launch_.name))
            causes_.push_back('"' + *array + "\" is a local array of " + launch_.name +
                              ", of which each thread has its own, and its index is made of threadIdx: is "
                              "__shared__ missing in front of it?");
        return;
    }
    if (!told_.insert({launch_.name, "no __shared__"}).second) return;
    if (const auto array = local_array_of(image_, launch_.site.file, launch_.name))
        hints_.push_back(std::string(launch_.name) +
                         " declares no __shared__ memory that it uses, although its threads wait for each "
                         "other: \"" +
                         *array +
                         "\" is a local array, of which each thread has its own; is __shared__ missing in "
                         "front of it?");
}

bool Meter::only_cleared() const {
    bool any = false;
    const auto clears = [&](const Region& region) {
        if (!region.words || region.written_in != region.epoch) return true;
        for (std::size_t i = 0; i < region.range.size(); i += 4) {
            const auto bytes = std::min<std::size_t>(4, region.range.size() - i);
            if (region.words->written(i, bytes, region.epoch) == 0) continue;
            any = true;
            if (value_at(reinterpret_cast<const void*>(region.range.begin + i), bytes) != 0) return false;
        }
        return true;
    };
    return std::all_of(globals_.begin(), globals_.end(), clears) && clears(variables_) && any;
}

void Meter::block_begins(const simt::Block& block) {
    ++epoch_;
    const auto set = [&](Region& region, simt::Range range, const char* name) {
        if (region.range.begin != range.begin || region.range.end != range.end)
            region = {range, Space::shared, name, false, 0, nullptr, 0, nullptr};
        region.epoch = epoch_;
        region.slots = 1u << block.slot;
        if (region.shadow) region.shadow->words_touched = 0;
    };
    set(static_shared_[block.slot], image_.shared, "shared memory");
    const auto dynamic = reinterpret_cast<std::uintptr_t>(block.dynamic.data());
    set(dynamic_shared_[block.slot], {dynamic, dynamic + block.dynamic.size()}, "dynamic shared memory");
    last_[block.slot] = nullptr;
    flights_[block.slot].clear();
    clocks_.start_block(block.slot, static_cast<std::uint32_t>(block.linear),
                        static_cast<unsigned>(block.threads.size()));
    if (mixed_) looks_[block.slot].assign(block.threads.size(), {});
    auto& logs = logs_[block.slot];
    logs.resize(std::max<std::size_t>(logs.size(), block.warps()));
    for (auto& log : logs) log.clear();
    chains_[block.slot].assign(block.warps(), {});
    auto& read_meanwhile = read_meanwhile_[block.slot];
    read_meanwhile.resize(std::max(read_meanwhile.size(), block.threads.size()));
    barriers_passed_[block.slot] = 0;
    bytes_under_way_[block.slot] = 0;
    phases_[block.slot].assign(block.warps(), {});
    held_[block.slot].assign(kata::watcher ? block.warps() : 0, {});
    polls_[block.slot].assign(polled_ ? block.threads.size() : 0, {});
}

void Meter::end_polling(const simt::Block& block) {
    kata::Counts elsewhere;
    for (unsigned warp = 0; warp < chains_[block.slot].size(); ++warp) {
        auto& chain = chains_[block.slot][warp];
        if (kata::watcher && !rehearsing_ && counted(block)) show_held(block, warp, chain.time());
        chain.end_polling(counted(block) ? counts_ : elsewhere);
    }
}

void Meter::block_ends(const simt::Block& block) {
    end_polling(block);
    if (!counted(block)) return;
    counts_.waited_for += waited_for_copies(chains_[block.slot]);
    ++counts_.blocks;
    counts_.threads += block.threads.size();
    std::uint64_t work = 0, of_busiest = 0;
    for (const auto& chain : chains_[block.slot]) {
        work += chain.work();
        of_busiest = std::max(of_busiest, chain.work());
        longest_ = std::max(longest_, chain.time());
    }
    counts_.work += work;
    counts_.evened += of_busiest * chains_[block.slot].size();
    work_of_blocks_.push_back(work);
}

void Meter::barrier(const simt::Block& block) {
    clocks_.barrier(block.slot);
    ++barriers_;
    if (counted(block)) {
        ++counts_.barriers;
        counts_.bytes_ahead += bytes_under_way_[block.slot];
    }
    // The logs of the other warps have been read when they came to the barrier.
    read_log(block, simt::running->warp(), ~0u);
    end_polling(block);
    if (counted(block)) counts_.waited_for += waited_for_copies(chains_[block.slot]);
    ++barriers_passed_[block.slot];
    for (auto& phases : phases_[block.slot]) phases.meet();
    std::uint64_t latest = 0;
    for (const auto& chain : chains_[block.slot]) latest = std::max(latest, chain.time());
    for (auto& chain : chains_[block.slot]) chain.wait_until(latest);
}

bool Meter::has_enough() { return kata::watcher && kata::watcher->has_enough(); }

bool Meter::sample_ends() { return kata::watcher && kata::watcher->sample_ends(); }

void Meter::warp_stops(const simt::Block& block, unsigned warp) {
    std::uint32_t waiting = 0;
    for (unsigned l = 0; l < 32; ++l) {
        const auto i = warp * 32 + l;
        if (i >= block.threads.size() || block.threads[i].state != simt::State::ready) waiting |= 1u << l;
    }
    read_log(block, warp, waiting);
    logs_[block.slot][warp].rest();
}

void Meter::read_log(const simt::Block& block, unsigned warp, std::uint32_t waiting) {
    auto& counts = counted(block) ? counts_ : elsewhere_;
    auto& chain = chains_[block.slot][warp];
    const bool watched = kata::watcher && !rehearsing_ && counted(block);
    logs_[block.slot][warp].read(
        waiting,
        [&](Group group) {
            const auto begins = chain.time();
            const auto taken = take(group, chain, counts);
            if (watched) show(block, warp, group, taken, begins);
        },
        [&](std::uint32_t code, unsigned lanes) {
            if (chain.polling() || watched) return false;
            counts.lane_basic_blocks += lanes;
            ++counts.basic_blocks;
            ++place(code).steps;
            chain.enters_basic_block();
            chain.step(1);
            return true;
        });
}

kata::Array Meter::array_at(std::uintptr_t address) {
    const auto as_array = [](const std::string& name, const simt::Range& range) {
        return kata::Array{name, range.begin, range.size()};
    };
    if (image_.shared.contains(address) || variables_.range.contains(address) || constants_.contains(address))
        if (const auto variable = simt::variable_at(image_, address);
            variable && variable->range.contains(address))
            return as_array(variable->name, variable->range);
    for (const auto* shared : {&static_shared_, &dynamic_shared_})
        for (const auto& region : *shared)
            if (region.range.contains(address)) return as_array(region.name, region.range);
    const auto* region = global_at(address);
    return region ? as_array(region->name, region->range) : as_array("", {address, address});
}

void Meter::show_launch() {
    const auto extent = [](const dim3& d) { return std::array{d.x, d.y, d.z}; };
    kata::watcher->launch_begins(
        {extent(grid_dim_), extent(block_dim_), [this](std::uintptr_t address) { return array_at(address); },
         [image = image_](std::span<const std::uint32_t> codes) { return lines_of(image, codes); },
         [image = image_](const std::string& file) { return source_of(image, file); }});
}

void Meter::show(const simt::Block& block, unsigned warp, Group group, Taken taken, std::uint64_t begins) {
    auto& held = held_[block.slot][warp];
    if (taken == Taken::no) return held.clear();
    constexpr const char *did[] = {"runs", "load", "store", "atomic"},
                         *memory[] = {"", "global", "shared", "constant"};
    const auto& first = *group.front();
    kata::Request request{.code = first.code,
                          .did = did[static_cast<unsigned>(first.what)],
                          .memory = memory[static_cast<unsigned>(first.space)],
                          .block = block.linear,
                          .warp = warp,
                          .barriers = barriers_passed_[block.slot],
                          .bytes = first.bytes};
    request.steps = account(group, request.counts);
    for (const auto* e : group) {
        request.lanes |= 1u << e->lane;
        request.addresses[e->lane] = e->address;
    }
    if (taken == Taken::perhaps_later) return held.push_back(request);
    request.begins = show_held(block, warp, begins);
    request.ends = chains_[block.slot][warp].time();
    kata::watcher->request(request);
}

std::uint64_t Meter::show_held(const simt::Block& block, unsigned warp, std::uint64_t begins) {
    for (auto& request : std::exchange(held_[block.slot][warp], {})) {
        request.begins = begins;
        request.ends = begins += request.steps;
        kata::watcher->request(request);
    }
    return begins;
}

kata::Place& Meter::place(std::uint32_t code) {
    if (code >= place_of_.size()) place_of_.resize(code + 1);
    auto& index = place_of_[code];
    if (index == 0) {
        places_.push_back({code});
        index = static_cast<std::uint32_t>(places_.size());
    }
    return places_[index - 1];
}

Meter::Taken Meter::take(Group group, Chain& chain, kata::Counts& counts) {
    const auto& first = *group.front();
    if (chain.polling()) {
        if (chain.round(group, account)) return Taken::perhaps_later;
        if (chain.next_round(group)) {
            kata::Counts vain;
            chain.wait_until(written_to(group) + account(group, vain));
            return Taken::no;
        }
        chain.end_polling(counts);
    }
    const auto lines = counts.lines, passes = passes_of(counts), conflicts = counts.bank_conflicts,
               loaded = counts.global_load.transactions, stored = counts.global_store.transactions;
    const auto steps = account(group, counts);
    auto& here = place(first.code);
    here.steps += steps;
    if (first.what != What::basic_block) ++here.requests;
    if (first.space == Space::shared) here.passes += passes_of(counts) - passes;
    here.conflicts += counts.bank_conflicts - conflicts;
    if (first.space != Space::global) {
        if (first.space == Space::shared && first.what != What::store)
            chain.reads_shared();
        else if (first.space == Space::shared && !first.copies)
            counts.waited_for += chain.stores_shared(group.size() * first.bytes);
        else if (first.what == What::basic_block)
            chain.enters_basic_block();
        chain.step(steps);
        return Taken::now;
    }
    here.lines += counts.lines - lines;
    here.sectors_loaded += counts.global_load.transactions - loaded;
    here.sectors_stored += counts.global_store.transactions - stored;
    if (first.what == What::store) ++here.stores;
    if (first.what == What::atomic) here.atomics += group.size();
    if (first.what == What::load && !first.copies)
        counts.waited_for += chain.loads(group.size() * first.bytes);
    chain.wait_until(written_to(group));
    chain.step(steps);
    if (first.polls) chain.begin_polling(group);
    if (first.what != What::load) write(group, chain.time(), &counts == &counts_);
    return Taken::now;
}

Region* Meter::global_at(std::uintptr_t address) {
    if (last_reached_ && last_reached_->range.contains(address)) return last_reached_;
    last_reached_ = variables_.range.contains(address) ? &variables_ : nullptr;
    for (auto& region : globals_)
        if (region.range.contains(address)) last_reached_ = &region;
    return last_reached_;
}

std::uint64_t Meter::written_to(Group group) {
    std::uint64_t latest = 0;
    const Region* region = nullptr;
    for (const auto* e : group) {
        if (e->what != What::load && !e->only_reads) continue;
        if (!region || !region->range.contains(e->address)) region = global_at(e->address);
        if (region && region->words && region->written_in == region->epoch)
            latest = std::max(
                latest, region->words->written(e->address - region->range.begin, e->bytes, region->epoch));
    }
    return latest;
}

void Meter::write(Group group, std::uint64_t time, bool counted) {
    constexpr std::size_t most_bytes = std::size_t{64} << 20;  // of what blocks signal each other with
    Region* region = nullptr;
    for (const auto* e : group) {
        if (!region || !region->range.contains(e->address)) region = global_at(e->address);
        if (!region || (!looks_for_races_ && region->range.size() > most_bytes)) continue;
        if (!region->words) region->words = Spare<Words>::take(region->range.size());
        if (!region->words) region->words.reset(new Words(region->range.size()));
        const auto offset = e->address - region->range.begin;
        if (!e->only_reads) {
            region->written_in = region->epoch;
            region->words->write(offset, e->bytes, region->epoch, time);
        }
        if (e->what != What::atomic) continue;
        const auto atomics = region->words->update(offset, region->epoch);
        if (counted) contention_ = std::max(contention_, atomics);
    }
}

bool Meter::polls_again(std::uintptr_t address, Verb verb, std::uint32_t code) {
    auto& polls = polls_[simt::running_block->slot];
    if (polls.empty()) polls.resize(simt::running_block->threads.size());
    polled_ = true;
    auto& poll = polls[simt::running->linear];
    const bool again = poll.last && poll.address == address && poll.code == code;
    poll = {address, code, verb == Verb::volatile_read};
    return again;
}

void Meter::ask(const void* address, std::size_t bytes) {
    asked_ = {simt::running, address, bytes, 0, 0};
    std::memcpy(&asked_.held, address, bytes);
}

void Meter::hear_answer() {
    const auto asked = std::exchange(asked_, {});
    std::uint64_t holds = 0;
    std::memcpy(&holds, asked.address, asked.bytes);
    if (asked.thread != simt::running || holds != asked.held) {
        ++news_;
        return;
    }
    polls_[simt::running_block->slot][simt::running->linear].last = true;
    if (const auto address = reinterpret_cast<std::uintptr_t>(asked.address); asked.unwritten != 0)
        tell_unwritten(*region_of(address), address, asked.bytes, asked.unwritten);
    auto* event = turn_.last();
    if (event && event->address == reinterpret_cast<std::uintptr_t>(asked.address)) event->only_reads = true;
}

Region* Meter::find_region(std::uintptr_t address) {
    const auto slot = simt::running_block->slot;
    if (static_shared_[slot].range.contains(address)) return &static_shared_[slot];
    if (dynamic_shared_[slot].range.contains(address)) return &dynamic_shared_[slot];
    for (auto& region : globals_)
        if (region.range.contains(address)) return &region;
    if (variables_.range.contains(address) && !constants_.contains(address)) return &variables_;
    return nullptr;
}

Region* Meter::region_of(std::uintptr_t address) {
    auto& last = last_[simt::running_block->slot];
    if (!last || !last->range.contains(address)) last = find_region(address);
    return last;
}

Shadow& Meter::shadow_of(Region& region) {
    if (!region.shadow) {
        const bool keeps_written = region.space == Space::global;
        region.shadow = Spare<Shadow>::take(region.range.size(), keeps_written, region.epoch);
        if (!region.shadow) region.shadow.reset(new Shadow(region.range.size(), keeps_written));
        mark_written(region);
    }
    return *region.shadow;
}

void Meter::touch(const void* pointer, std::size_t bytes, Verb verb, const void* code, bool copies) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    if (simt::stacks.contains(address) || arguments_.contains(address)) return;
    if (!counted(*simt::running_block)) return;
    if (asked_.thread) hear_answer();
    const auto what = updates(verb) ? What::atomic : writes(verb) ? What::store : What::load;
    Event event{address, offset_of(code), static_cast<std::uint8_t>(bytes), copies, what, Space::constant};
    if (constants_.contains(address)) {
        if (writes(verb)) refuse(address, bytes, verb, code);
        if (bytes <= 8 && value_at(pointer, bytes) == 0) notice_unfilled(address, bytes, event.code);
        if (overlaps_) footprint_.read.add({address, address + bytes});
        return log(event);
    }
    auto* region = usual_region(event.code, address);
    if (!region) region = region_of(address);
    if (!region) {
        if (is_built_in(address)) return;
        if (image_.all.contains(address)) hold_to_device(address, bytes, verb, code);
        if (!image_.all.contains(address) || writes(verb)) refuse(address, bytes, verb, code);
        return;  // a table that the compiler has put among the code
    }
    if (region == &variables_) hold_to_device(address, bytes, verb, code);
    const auto offset = address - region->range.begin;
    if (bytes > region->range.end - address) refuse(address, bytes, verb, code);
    if ((address & (bytes - 1)) != 0)
        simt::give_up("misaligned access: " + here() + " reaches " + std::to_string(bytes) +
                      " bytes at offset " + std::to_string(offset) + " of " + name_of(*region) +
                      ", which is no multiple of " + std::to_string(bytes) + ", in " + line(event.code));
    event.space = region->space;
    if (event.code >= reached_by_.size()) reached_by_.resize(event.code + 1);
    reached_by_[event.code] = region;
    in_shared_ += region->space == Space::shared;
    const auto slot = simt::running_block->slot;
    const bool global = region->space == Space::global;
    if (!global && reads(verb) && !flights_[slot].none()) ++read_meanwhile_[slot][simt::running->linear];
    if (global && signals(verb) && reads(verb)) {
        event.polls = true;
        event.repeats = polls_again(address, verb, event.code);
        news_ += !event.repeats;
    } else if (polled_ && (global || writes(verb)) && !polls_[slot].empty()) {
        polls_[slot][simt::running->linear].last = false;
    }
    if (overlaps_ && global) {
        auto& kind = updates(verb) || signals(verb) ? footprint_.updated
                     : writes(verb)                 ? footprint_.written
                                                    : footprint_.read;
        kind.add({address, address + bytes});
    }
    const bool may_be_vain = global && verb == Verb::update;
    news_ += writes(verb) && !may_be_vain;
    log(event);
    if (may_be_vain) ask(pointer, bytes);
    look_for_clashes(*region, address, bytes, verb, event.code);
}

inline bool Meter::touch_as_usual(const void* pointer, std::size_t bytes, Verb verb, const void* code) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    const auto at = offset_of(code);
    const auto slot = simt::running_block->slot;
    auto* const region = usual_region(at, address);
    if (!region) return simt::stacks.contains(address) || arguments_.contains(address);
    if (bytes > region->range.end - address || (address & (bytes - 1)) != 0 || asked_.thread || polled_ ||
        !flights_[slot].none())
        return false;
    in_shared_ += region->space == Space::shared;
    news_ += writes(verb);
    log({address, at, static_cast<std::uint8_t>(bytes), false, writes(verb) ? What::store : What::load,
         region->space});
    if (verb == Verb::read && bytes == 4 && region->shadow &&
        region->shadow->read_once_more(address - region->range.begin, at, clocks_, slot,
                                       simt::running->linear))
        return true;
    look_for_clashes(*region, address, bytes, verb, at);
    return true;
}

void Meter::look_for_clashes(Region& region, std::uintptr_t address, std::size_t bytes, Verb verb,
                             std::uint32_t code) {
    if (!looks_for_races_) return;
    const auto offset = address - region.range.begin;
    const auto slot = simt::running_block->slot;
    const auto thread = simt::running->linear;
    const bool global = region.space == Space::global;
    auto& shadow = shadow_of(region);
    if (global && writes(verb)) clocks_.write(slot, thread);
    if (global && signals(verb) && writes(verb)) clocks_.release(slot, thread, address);
    const auto answer = shadow.access(offset, bytes, verb, code, region.epoch, clocks_, slot, thread);
    if (global && signals(verb) && reads(verb)) clocks_.acquire(slot, thread, address);
    if (answer.unwritten && reads(verb)) {
        // An exchange may be the first to write what the host has left: it reads where it changes nothing.
        if (!updates(verb) || region.written_parts.empty())
            tell_unwritten(region, address, bytes, code);
        else
            asked_.unwritten = code;
    }
    if (answer.read_only) tell_read_only(region, address, bytes, code, *answer.read_only);
    if (answer.clash) tell_clash(region, address, bytes, verb, code, *answer.clash);
    if (global) return;
    if (const auto copy = flights_[slot].over(address, bytes))
        tell_too_early(region, address, bytes, verb, code, *copy);
    const auto& fixed = static_shared_[slot].shadow;
    const auto used = 4 * (fixed ? fixed->words_touched : 0) + dynamic_shared_[slot].range.size();
    if (used > shared_limit_)
        simt::give_up("shared memory over the limit: a block uses more than the " +
                      std::to_string(shared_limit_) + " bytes that it has, in " + line(code));
}

void Meter::read_only(const void* pointer, unsigned bytes, const void* code) {
    if (!looks_for_races_ || !counted(*simt::running_block)) return;
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    auto* region = region_of(address);
    if (!region || region->space != Space::global || bytes > region->range.end - address) return;
    const auto at = offset_of(code);
    if (const auto writer =
            shadow_of(*region).read_only(address - region->range.begin, bytes, at, region->epoch))
        tell_read_only(*region, address, bytes, *writer, at);
}

/// A block that reads a volatile or an atomic and writes it again may have been overtaken by another in
/// between. Where two blocks run alternately, the other gets the chance to do so.
void Meter::before_signal(const void* pointer, std::size_t bytes, Verb verb, const void* code) {
    constexpr unsigned enough = 1000;
    if (!mixed_) return;
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    if (simt::stacks.contains(address)) return;
    const auto slot = simt::running_block->slot;
    auto& seen = looks_[slot][simt::running->linear];
    if (reads(verb)) {
        auto place =
            std::find_if(seen.begin(), seen.end(), [&](const Look& l) { return l.address == address; });
        if (place == seen.end()) {
            std::rotate(seen.begin(), seen.end() - 1, seen.end());
            place = seen.begin();
        }
        *place = {address, value_at(pointer, bytes)};
        return;
    }
    const auto place =
        std::find_if(seen.begin(), seen.end(), [&](const Look& l) { return l.address == address; });
    if (place == seen.end()) return;
    const auto* region = region_of(address);
    const auto look = std::exchange(*place, {});
    if (!region || region->space != Space::global || bytes > region->range.end - address) return;
    if (gave_way_++ < enough) simt::yield();
    const auto now = value_at(pointer, bytes);
    if (now == look.value || findings_.size() >= most_findings) return;
    const auto at = line(offset_of(code));
    if (told_.contains({at, "lost"})) return;
    overwrite_ = {pointer, bytes, now,
                  "lost update of global memory " + text_of(*region_of(address), address, bytes) + ": " +
                      here() + " writes in " + at +
                      " what it has made of an older value, for another thread has written it since\n  " +
                      (is_atomic(verb)
                           ? "an atomic load and an atomic store keep nobody out in between: use one atomic "
                             "update, as fetch_add"
                           : "volatile keeps nobody out between a read and a write: use an atomic")};
    told_.insert({at, "lost"});
}

/// An update of the thread's own has seen what was there.
void Meter::forget_look(const void* pointer) {
    if (!mixed_) return;
    for (auto& look : looks_[simt::running_block->slot][simt::running->linear])
        if (look.address == reinterpret_cast<std::uintptr_t>(pointer)) look = {};
}

/// Where two blocks run alternately, the other may come in between an atomic and what this thread has read
/// before it, by another atomic, say: one compare-and-swap and no second try then loses what it has.
void Meter::let_others_in(const void* pointer) {
    constexpr unsigned enough = 256;
    if (!mixed_ || let_in_ >= enough) return;
    const auto* region = region_of(reinterpret_cast<std::uintptr_t>(pointer));
    if (!region || region->space != Space::global) return;
    ++let_in_;
    simt::yield();
}

/// Two that write the same value may have lost nothing: that shows where the word changes once more.
void Meter::tell_overwrite() {
    auto lost = std::exchange(overwrite_, {});
    if (value_at(lost.address, lost.bytes) != lost.value)
        tell(lost.text);
    else
        repeated_.push_back(std::move(lost));
}

/// The copy reaches both memories when it begins. What nobody orders with that, or with its arrival, clashes.
std::uint64_t Meter::copy_begins(const void* to, const void* from, unsigned bytes, unsigned read,
                                 const char* name, const void* code) {
    if (!counted(*simt::running_block)) return 0;
    const auto address = reinterpret_cast<std::uintptr_t>(to);
    if (const auto* region = region_of(address); !region || region->space != Space::shared)
        simt::give_up(std::string(name) + " copies into shared memory, and " + here() +
                      " gives it another address, in " + line(offset_of(code)));
    // cooperative_groups::memcpy_async may copy from any memory. An address on the stack of another thread is
    // a stray one, and no variable of this thread.
    const auto source = reinterpret_cast<std::uintptr_t>(from);
    const auto stack = reinterpret_cast<std::uintptr_t>(simt::running->stack);
    const auto* const region = region_of(source);
    if (name == std::string_view("__pipeline_memcpy_async") &&
        (simt::Range{stack, stack + simt::stack_bytes}.contains(source) ||
         (region && region->space == Space::shared)))
        simt::give_up(std::string(name) + " copies from global memory, and " + here() + " copies from " +
                      (region ? "shared memory" : "a variable of its own") + ", in " + line(offset_of(code)) +
                      ": assign what is there");
    chains_[simt::running_block->slot][simt::running->warp()].copies();
    touch(to, bytes, Verb::write, code, true);
    flights_[simt::running_block->slot].start(address, bytes, offset_of(code));
    bytes_under_way_[simt::running_block->slot] += bytes;
    for (unsigned done = 0; done < read;) {  // in pieces that a load has
        const unsigned piece = std::bit_floor(read - done);
        touch(static_cast<const std::byte*>(from) + done, piece, Verb::read, code, true);
        done += piece;
    }
    return done_meanwhile();
}

void Meter::copy_arrives(const simt::Copy& copy) {
    if (!counted(*simt::running_block)) return;
    const auto address = reinterpret_cast<std::uintptr_t>(copy.to);
    const auto code = offset_of(copy.code);
    const auto slot = simt::running_block->slot;
    auto* const region = region_of(address);
    flights_[slot].land(address, copy.bytes);
    bytes_under_way_[slot] -= copy.bytes;
    if (copy.mark == done_meanwhile()) chains_[slot][simt::running->warp()].waits_for_copy(copy.read);
    if (!looks_for_races_) return;
    const auto answer = region->shadow->access(address - region->range.begin, copy.bytes, Verb::write, code,
                                               region->epoch, clocks_, slot, simt::running->linear);
    if (answer.clash) tell_clash(*region, address, copy.bytes, Verb::write, code, *answer.clash);
}

void Meter::touch_from_host(const void* pointer, Verb verb, const void* code) {
    if (!observing_ || findings_.size() >= most_findings) return;
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    const auto& buffers = simt::allocations();
    const auto buffer = std::find_if(buffers.begin(), buffers.end(),
                                     [&](const auto& a) { return a.range.contains(address); });
    std::string what;
    if (buffer != buffers.end())
        what = '"' + buffer->name + "\", which is";
    else if (constants_.contains(address))
        what = "a constant, which is in";
    else
        return;
    const auto image = simt::image_of(code);
    const auto at =
        line_of(image, static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(code) - image.base));
    if (told_.insert({at, "host"}).second)
        tell("the host " + std::string(writes(verb) ? "writes to " : "reads ") + what +
             " device memory, in " + at +
             ": on a GPU the program ends there; let a kernel do it, or one of the cudaMemcpy and cudaMemset "
             "calls");
}

/// Where the variable or the buffer is that an access missed: "40 bytes past the end of "in" (400 bytes)".
struct Miss {
    std::uintptr_t distance = ~std::uintptr_t{0};
    std::string text;
};

void Meter::refuse(std::uintptr_t address, std::size_t bytes, Verb verb, const void* code) {
    const auto whole = std::to_string(bytes) + (bytes == 1 ? " byte " : " bytes ");
    std::string text = "out of bounds: " + here() + (writes(verb) ? " writes " : " reads ") + whole;
    // On either side the nearest: a buffer says nothing of what is meant where another is as near.
    Miss before, behind;
    const auto consider = [&](const Region& r) {
        if (r.range.begin == 0 || (r.range.size() == 0 && address < r.range.begin) ||
            (r.range.size() == 0 && r.space == Space::shared && address - r.range.begin > shared_limit_))
            return;
        auto range = r.range;
        auto name = name_of(r);
        if (r.range.size() > 0 && r.range.begin == image_.shared.begin)
            if (const auto variable =
                    simt::variable_at(image_, std::clamp(address, r.range.begin, r.range.end - 1))) {
                range = variable->range;
                name = "shared memory \"" + variable->name + "\"";
            }
        const auto size = " (" + std::to_string(range.size()) + " bytes)";
        if (address < range.begin) {
            const auto distance = range.begin - address;
            if (distance < behind.distance)
                behind = {distance, "beginning " + std::to_string(distance) + " bytes before the start of " +
                                        name + size};
        } else if (const auto distance = address + bytes - range.end; distance < before.distance) {
            before = {distance,
                      (address == range.end ? "right past the end of "
                       : address > range.end
                           ? "beginning " + std::to_string(address - range.end) + " bytes past the end of "
                           : "of which the last " + std::to_string(distance) + " lie past the end of ") +
                          name + size};
        }
    };
    const auto at = offset_of(code);
    const auto* const meant = at < reached_by_.size() ? reached_by_[at] : nullptr;
    if (meant) {  // what other threads have reached by the same instruction, or this one before
        consider(*meant);
    } else {
        for (const auto& r : globals_) consider(r);
        const auto slot = simt::running_block->slot;
        consider(static_shared_[slot]);
        consider(dynamic_shared_[slot]);
    }
    const auto near = std::min(before.distance, behind.distance),
               far = std::max(before.distance, behind.distance);
    constexpr std::uintptr_t reach = 1 << 24, next_to_it = 256;
    if (address < 4096)
        text += "through a null pointer";
    else if (constants_.contains(address))
        text += "of constant memory, which a kernel cannot";
    else if (const auto pointer = meant ? std::nullopt : host_pointer_at(address, near))
        text += "of host memory, where \"" + *pointer + "\" points: on a GPU the kernel ends there";
    else if (const auto lost = simt::lost_upper_bits(address); !lost.empty())
        simt::give_up(text + "that lie " + lost + ", in " + line(offset_of(code)) +
                      simt::why_upper_bits_are_lost);
    else if (near < reach)
        text += (before.distance < behind.distance ? before : behind).text +
                (near <= next_to_it || far >= 4 * near
                     ? ""
                     : ", and " + (before.distance < behind.distance ? behind : before).text);
    else
        text +=
            image_.all.contains(address) ? "of the module's constants or code" : "that are not device memory";
    simt::give_up(text + ", in " + line(offset_of(code)));
}

/// The parameter of the kernel that points to no memory of the device, and nearer to the address than `near`.
std::optional<std::string> Meter::host_pointer_at(std::uintptr_t address, std::uintptr_t near) const {
    constexpr std::uintptr_t beside_buffers = 1 << 20;  // as far as nothing else can lie
    const auto of_device = [&](std::uintptr_t p) {
        return image_.all.contains(p) || std::any_of(globals_.begin(), globals_.end(), [&](const Region& r) {
                   return p + beside_buffers >= r.range.begin && p <= r.range.end + beside_buffers;
               });
    };
    std::optional<std::string> found;
    const auto names = parameters();
    for (std::size_t i = 0; i < std::min(names.size(), launch_.parameters); ++i) {
        const auto p = reinterpret_cast<std::uintptr_t>(launch_.pointers[i]);
        const auto distance = address > p ? address - p : p - address;
        if (p < 4096 || of_device(p) || distance >= near) continue;
        near = distance;
        found = names[i];
    }
    return found;
}

void Meter::hold_to_device(std::uintptr_t address, std::size_t bytes, Verb verb, const void* code) {
    for (const auto& known : of_device_)
        if (known.contains(address)) return;
    const std::string_view names(launch_.of_device,
                                 static_cast<std::size_t>(launch_.of_device_end - launch_.of_device));
    if (const auto variable = simt::host_variable_at(image_, address, names))
        simt::give_up("host memory: " + here() + (writes(verb) ? " writes " : " reads ") +
                      std::to_string(bytes) + (bytes == 1 ? " byte of \"" : " bytes of \"") + variable->name +
                      "\", a variable of the host, which no kernel can reach: declare it "
                      "__constant__ or __device__, or copy it to memory of the device, in " +
                      line(offset_of(code)));
    const auto variable = simt::variable_at(image_, address);
    const bool whole = variable && variable->range.contains(address);
    of_device_[next_of_device_++ % of_device_.size()] =
        whole ? variable->range : simt::Range{address, address + bytes};
}

void Meter::refuse_index(const std::string& index, const std::string& type, const char* file, unsigned line) {
    const auto at = simt::text_of(simt::Site{file, static_cast<int>(line)});
    const auto name = indexed_array(image_, file, line);
    const auto what = " uses index " + index + " of an array of type " + type +
                      (name ? ", \"" + *name + '"' : "") + ", in " + at;
    if (simt::running) simt::give_up("out of bounds: " + here() + what);
    if (observing_ && findings_.size() < most_findings && told_.insert({at, "index"}).second)
        tell("out of bounds: the host code" + what);
}

void Meter::check_stack(const void* here_on_stack, const void* code) {
    constexpr std::ptrdiff_t reserve = 24 * 1024;  // for what the runtime itself does on this stack
    if (static_cast<const std::byte*>(here_on_stack) - simt::running->stack < reserve)
        simt::give_up("stack overflow: " + here() + " has no room for its local variables in " +
                      line(offset_of(code)) + "; does a recursion end, and are its arrays small?");
}

Meter::Who Meter::who_did(const Record& r) const {
    const auto thread = r.warp * 32u + r.first_lane();
    const auto& b = block_dim_;
    const auto& g = grid_dim_;
    return {{thread % b.x, thread / b.x % b.y, thread / b.x / b.y},
            {r.block % g.x, r.block / g.x % g.y, r.block / g.x / g.y}};
}

std::string Meter::name_of(const Record& r) const {
    const auto [thread, block] = who_did(r);
    return simt::name_of(thread, block);
}

/// As the kernel calls it that is running: by its parameter that points there.
std::string Meter::name_of(const Region& region) const {
    if (region.serial == 0) return region.name;
    std::string name = region.name;
    const auto names = parameters();
    for (std::size_t i = std::min(names.size(), launch_.parameters); i-- > 0;) {
        const auto points_to = reinterpret_cast<std::uintptr_t>(launch_.pointers[i]);
        if (points_to == region.range.begin || region.range.contains(points_to)) name = names[i];
    }
    return '"' + name + '"';
}

/// What lies at an address, as the source calls it, in elements as wide as the access.
std::string Meter::text_of(const Region& region, std::uintptr_t address, std::size_t bytes) const {
    const auto element = [&](std::uintptr_t begin) {
        return ", element " + std::to_string((address - begin) / bytes);
    };
    const auto variable = region.range.begin == image_.shared.begin || &region == &variables_
                              ? simt::variable_at(image_, address)
                              : std::nullopt;
    if (variable && variable->range.contains(address))
        return (region.space == Space::shared ? "shared memory \"" : "the __device__ variable \"") +
               variable->name + '"' + (variable->range.size() > bytes ? element(variable->range.begin) : "");
    const bool named = region.serial != 0 || region.space == Space::shared;
    return name_of(region) +
           (named && region.range.begin != image_.shared.begin ? element(region.range.begin) : "");
}

void Meter::tell_clash(const Region& region, std::uintptr_t address, std::size_t bytes, Verb verb,
                       std::uint32_t code, const Record& clash) {
    if (findings_.size() >= most_findings) return;
    const auto mine = line(code), other = line(clash.code);
    if (!told_.insert(std::minmax(mine, other)).second) return;
    const auto did = [](Verb v) {
        return std::string(updates(v)  ? " updates"
                           : writes(v) ? " writes"
                                       : " reads") +
               (is_atomic(v) ? " atomically in " : " in ");
    };
    tell("race in " + std::string(region.serial != 0 ? "global memory " : "") +
         text_of(region, address, bytes) + ": nothing orders\n  " + name_of(clash) + did(clash.verb()) +
         other + "\n  " + here() + did(verb) + mine + "\n  " +
         advice(region, address, bytes, verb, code, clash));
}

/// ", as \"width\" says", of a number that one parameter of the kernel holds and no other; else nothing.
std::string Meter::named_number(std::uint64_t number) const {
    const auto names = parameters();
    std::string found;
    for (std::size_t i = 0; i < std::min(names.size(), launch_.parameters); ++i) {
        if (launch_.numbers[i] != static_cast<long long>(number)) continue;
        if (!found.empty()) return "";
        found = ", as \"" + names[i] + "\" says";
    }
    return found;
}

/// Why two threads store to one place by the same instruction, where what they have done shows it.
std::optional<std::string> Meter::why_same_index(const Region& region, std::uintptr_t address,
                                                 std::size_t bytes, std::uint32_t code,
                                                 const Record& clash) const {
    const auto index = (address - region.range.begin) / bytes;
    const auto who = "two threads store to index " + std::to_string(index);
    // As a thread of a picture computes its own column and row.
    struct Pixel {
        std::uint64_t x, y;
        std::string text() const { return "x = " + std::to_string(x) + ", y = " + std::to_string(y); }
    };
    const auto pixel_of = [&](uint3 block, uint3 thread) {
        return Pixel{std::uint64_t{block.x} * block_dim_.x + thread.x,
                     std::uint64_t{block.y} * block_dim_.y + thread.y};
    };
    const auto [thread, block] = who_did(clash);
    auto upper = pixel_of(simt::running_block->index, simt::running->index), lower = pixel_of(block, thread);
    if (upper.y > lower.y) std::swap(upper, lower);
    if (region.space == Space::global && upper.y < lower.y && upper.x > lower.x) {
        const auto row = (upper.x - lower.x) / (lower.y - upper.y);
        if (upper.y * row + upper.x == index && lower.y * row + lower.x == index && upper.x >= row)
            return who + ", at " + upper.text() + " and at " + lower.text() +
                   ", which is one place where a row has " + std::to_string(row) + " elements" +
                   named_number(row) +
                   ". If a row has more of them, another number belongs in the index. If it has not, the "
                   "guard must compare x and y each with its own limit, not the index with the number of "
                   "elements";
    }
    if (clash.block != simt::running_block->linear || !region.shadow) return std::nullopt;
    const auto first = (address - region.range.begin) / 4,
               last = (address + bytes - 1 - region.range.begin) / 4;
    const auto theirs = region.shadow->written_beside(first, last, clash, code, region.epoch);
    const auto mine = region.shadow->written_beside(
        first, last, clocks_.now(simt::running_block->slot, simt::running->linear), code, region.epoch);
    if (!theirs.before && !mine.before && !mine.behind) return std::nullopt;
    return who +
           ", and each stores to several in this line: their ranges overlap. Is what the index has for each "
           "thread multiplied by the number of results that a thread has, and does the loop end there?";
}

/// What to do about a race.
std::string Meter::advice(const Region& region, std::uintptr_t address, std::size_t bytes, Verb verb,
                          std::uint32_t code, const Record& clash) const {
    const bool same_block = clash.block == simt::running_block->linear;
    const bool same_warp = same_block && clash.warp == simt::running->warp();
    const bool plain = !is_atomic(verb) && !is_atomic(clash.verb());
    const bool both_store = verb == Verb::write && clash.verb() == Verb::write;
    const auto what = text_of(region, address, bytes);
    const auto place = what.rfind(", element ");
    const auto index = place == std::string::npos ? "the same place" : "index " + what.substr(place + 10);
    if (clash.code == code && both_store)
        if (const auto why = why_same_index(region, address, bytes, code, clash)) return *why;
    if (clash.code == code && both_store)
        return "two threads store to " + index + ": " +
               (same_block ? "is threadIdx missing from the index, or should only one of them store?"
                           : "is blockIdx missing from the index, or blockDim that multiplies it, or should "
                             "only one block store?");
    if (both_store && region.space == Space::global)
        return "two threads store to " + index +
               ": which of them should? Look at the index, and at where loops begin and end, in both lines" +
               (same_block ? "; if both should, a __syncthreads() between them says which comes last" : "");
    if (plain && line(clash.code) == line(code) && !same_block)
        return "threads of two blocks reach " + index +
               " in the same line: if each should have its own, is blockIdx in the index, multiplied by the "
               "number of elements that a block works on? If they share it, use an atomic";
    if (same_block)
        return std::string(
                   plain && line(clash.code) == line(code)
                       ? "should each thread have an index of its own in this line, or should fewer threads "
                         "come here at a time? If they share it, "
                       : "") +
               "is a __syncthreads() missing between them" +
               (same_warp ? " (__syncwarp(), if only the warp shares it)" : "") +
               ", or must it be an atomic?";
    if ((is_atomic(verb) && !signals(verb)) || (is_atomic(clash.verb()) && !signals(clash.verb())))
        return "an atomic of the block is one to its own threads alone: give it the scope of the device, or "
               "leave the _block of its name away";
    return "blocks run in any order: what must be done before all of them belongs in front of the launch; "
           "else use an atomic, or one as a flag with a __threadfence() on both of its sides";
}

void Meter::tell_too_early(const Region& region, std::uintptr_t address, std::size_t bytes, Verb verb,
                           std::uint32_t code, std::uint32_t copy) {
    if (findings_.size() >= most_findings) return;
    const auto mine = line(code), other = line(copy);
    if (!told_.insert(std::minmax(mine, other)).second) return;
    tell(std::string(writes(verb) ? "write" : "read") + " before the copy into shared memory has arrived: " +
         here() + (writes(verb) ? " writes to " : " reads ") + text_of(region, address, bytes) + " in " +
         mine + ", where the copy of " + other +
         " is still under way\n  wait for it with __pipeline_commit() and __pipeline_wait_prior(0), and then "
         "with a barrier for those of the other threads; a wait with a larger number counts groups, so a "
         "group must be committed in each round, also where nothing is copied");
}

void Meter::tell_unwritten(const Region& region, std::uintptr_t address, std::size_t bytes,
                           std::uint32_t code) {
    // A kernel may do so harmlessly and often.
    const bool shared = region.space == Space::shared;
    if (rehearsing_ || findings_.size() >= most_findings || (shared && doubted_.contains(code))) return;
    const auto at = line(code);
    const auto text = "read of what nobody has written: " + here() + " reads " +
                      text_of(region, address, bytes) + " in " + at + simt::which_launch();
    if (shared) {
        doubted_.insert(code);
        doubts_.try_emplace(at, text);
    } else if (told_.insert({at, ""}).second) {
        tell(text);
    }
}

void Meter::tell_read_only(const Region& region, std::uintptr_t address, std::size_t bytes,
                           std::uint32_t writes, std::uint32_t reads) {
    if (findings_.size() >= most_findings) return;
    const auto read = line(reads), write = line(writes);
    if (!told_.insert({read, write}).second) return;
    tell("__ldg() of what the same launch writes: it reads " + text_of(region, address, bytes) + " in " +
         read + ", which is written in " + write +
         "\n  its cache may answer with what was there before: read it without __ldg()");
}

}  // namespace

}  // namespace meter

namespace simt {
Probe* meter() { return &meter::the_meter; }
}  // namespace simt

// The callbacks.

#define METER_CODE __builtin_return_address(0)

namespace {

using meter::Verb;

/// Where nobody wants to know.
void heard_in_vain(const void* address, Verb verb, const void* code) {
    if (!simt::running) return meter::the_meter.touch_from_host(address, verb, code);
    meter::the_meter.settle_overwrite();
    if (verb == Verb::volatile_read) simt::poll();
}

[[gnu::always_inline]] inline void heard(const void* address, std::size_t bytes, Verb verb,
                                         const void* code) {
    if (!meter::the_meter.listening()) return heard_in_vain(address, verb, code);
    meter::the_meter.settle_overwrite();
    if (verb == Verb::volatile_read) simt::poll();
    if (signals(verb)) meter::the_meter.before_signal(address, bytes, verb, code);
    const bool plain = verb == Verb::read || verb == Verb::write;
    if (plain && meter::the_meter.touch_as_usual(address, bytes, verb, code)) return;
    meter::the_meter.touch(address, bytes, verb, code);
}

/// Plain accesses are most of all, and where nothing is observed millions of threads run: this says so before
/// anything else is done.
template <std::size_t bytes, Verb verb>
[[gnu::noinline]] void heard_plain(const void* address, const void* code) {
    heard(address, bytes, verb, code);
}
template <std::size_t bytes, Verb verb>
[[gnu::always_inline]] inline void plain(const void* address, const void* code) {
    if (meter::the_meter.observing()) heard_plain<bytes, verb>(address, code);
}

/// A structure that is less aligned than it is wide is moved in pieces, of four bytes for most.
void heard_range(const void* address, std::size_t bytes, Verb verb, const void* code) {
    const auto half = bytes <= 16 && std::has_single_bit(bytes) ? std::min<std::size_t>(4, bytes / 2) : 16;
    const auto bits = reinterpret_cast<std::uintptr_t>(address) | bytes | half;
    const auto piece = bits & -bits;
    for (std::size_t done = 0; done < bytes; done += piece)
        heard(static_cast<const std::byte*>(address) + done, piece, verb, code);
}

/// memcpy and its like, in bytes as on a GPU, where the compiler knows no alignment. The reads are told from
/// the writes by their code, which for both lies within the call. `from` is null for a memset.
void heard_copy(const void* to, const void* from, std::size_t bytes, const void* code) {
    if (!simt::running) return;
    // Most are of what a thread has for itself, as a structure that a function returns.
    const auto of_its_own = [bytes](const void* p) {
        const auto begin = reinterpret_cast<std::uintptr_t>(p);
        return bytes > 0 && simt::stacks.contains(begin) && simt::stacks.contains(begin + bytes - 1);
    };
    const bool hears_from = from && !of_its_own(from), hears_to = !of_its_own(to);
    if (!hears_from || !hears_to) meter::the_meter.settle_overwrite();
    for (std::size_t i = 0; (hears_from || hears_to) && i < bytes; ++i) {
        if (hears_from)
            heard(static_cast<const std::byte*>(from) + i, 1, Verb::read, static_cast<const char*>(code) - 1);
        if (hears_to) heard(static_cast<const std::byte*>(to) + i, 1, Verb::write, code);
    }
}

/// What the compiler says of an array and of its index.
struct IndexedType {
    std::uint16_t kind,
        info;      // of a whole number: 0, and twice the logarithm of its bits, plus 1 where signed
    char name[1];  // "'float [32]'"
};
struct Indexed {
    const char* file;
    std::uint32_t line, column;
    const IndexedType *array, *index;
};

void heard_index(const void* place, const void* value) {
    const auto& at = *static_cast<const Indexed*>(place);
    const auto bits = std::min(64u, 1u << (at.index->info >> 1));
    const auto number = reinterpret_cast<std::uintptr_t>(value) << (64 - bits);
    const auto text = at.index->info & 1 ? std::to_string(static_cast<std::int64_t>(number) >> (64 - bits))
                                         : std::to_string(number >> (64 - bits));
    meter::the_meter.refuse_index(text, at.array->name, at.file, at.line);
}

}  // namespace

extern "C" {

#define METER_ACCESS(n)                                                                                     \
    void __tsan_read##n(void* p) { plain<n, Verb::read>(p, METER_CODE); }                                   \
    void __tsan_write##n(void* p) { plain<n, Verb::write>(p, METER_CODE); }                                 \
    void __tsan_unaligned_read##n(void* p) { heard_range(p, n, Verb::read, METER_CODE); }                   \
    void __tsan_unaligned_write##n(void* p) { heard_range(p, n, Verb::write, METER_CODE); }                 \
    void __tsan_volatile_read##n(void* p) { heard(p, n, Verb::volatile_read, METER_CODE); }                 \
    void __tsan_volatile_write##n(void* p) { heard(p, n, Verb::volatile_write, METER_CODE); }               \
    void __tsan_unaligned_volatile_read##n(void* p) { heard_range(p, n, Verb::volatile_read, METER_CODE); } \
    void __tsan_unaligned_volatile_write##n(void* p) { heard_range(p, n, Verb::volatile_write, METER_CODE); }
METER_ACCESS(1)
METER_ACCESS(2)
METER_ACCESS(4)
METER_ACCESS(8)
METER_ACCESS(16)
#undef METER_ACCESS

void* simt_memcpy(void* to, const void* from, unsigned long bytes) {
    heard_copy(to, from, bytes, METER_CODE);
    return std::memcpy(to, from, bytes);
}
void* simt_memmove(void* to, const void* from, unsigned long bytes) {
    heard_copy(to, from, bytes, METER_CODE);
    return std::memmove(to, from, bytes);
}
void* simt_memset(void* to, int value, unsigned long bytes) {
    heard_copy(to, nullptr, bytes, METER_CODE);
    return std::memset(to, value, bytes);
}

// Called by what -fsanitize=bounds puts in front of an index; both names, for either way of going on.
void __ubsan_handle_out_of_bounds(void* place, void* index) { heard_index(place, index); }
void __ubsan_handle_out_of_bounds_abort(void* place, void* index) { heard_index(place, index); }

void __tsan_read_range(void* p, unsigned long bytes) { heard_range(p, bytes, Verb::read, METER_CODE); }
void __tsan_write_range(void* p, unsigned long bytes) { heard_range(p, bytes, Verb::write, METER_CODE); }
void __tsan_init() {}
void __tsan_func_entry(void*) {
    if (meter::the_meter.listening()) meter::the_meter.check_stack(__builtin_frame_address(0), METER_CODE);
}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

// Of the host code of a step: a static variable with a constructor, a shared_ptr, a std::atomic. Kernels have
// atomics of their own.
#define METER_ATOMIC(bits, Type)                                                                       \
    Type __tsan_atomic##bits##_load(const volatile Type* p, int) {                                     \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                   \
    }                                                                                                  \
    void __tsan_atomic##bits##_store(volatile Type* p, Type v, int) {                                  \
        __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                      \
    }                                                                                                  \
    Type __tsan_atomic##bits##_exchange(volatile Type* p, Type v, int) {                               \
        return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                            \
    }                                                                                                  \
    Type __tsan_atomic##bits##_fetch_add(volatile Type* p, Type v, int) {                              \
        return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);                                             \
    }                                                                                                  \
    Type __tsan_atomic##bits##_fetch_sub(volatile Type* p, Type v, int) {                              \
        return __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST);                                             \
    }                                                                                                  \
    Type __tsan_atomic##bits##_fetch_and(volatile Type* p, Type v, int) {                              \
        return __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST);                                             \
    }                                                                                                  \
    Type __tsan_atomic##bits##_fetch_or(volatile Type* p, Type v, int) {                               \
        return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST);                                              \
    }                                                                                                  \
    Type __tsan_atomic##bits##_fetch_xor(volatile Type* p, Type v, int) {                              \
        return __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST);                                             \
    }                                                                                                  \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile Type* p, Type* old, Type v, int, int) { \
        return __atomic_compare_exchange_n(p, old, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);      \
    }                                                                                                  \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile Type* p, Type* old, Type v, int, int) {   \
        return __atomic_compare_exchange_n(p, old, v, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
    }
METER_ATOMIC(8, std::uint8_t)
METER_ATOMIC(16, std::uint16_t)
METER_ATOMIC(32, std::uint32_t)
METER_ATOMIC(64, std::uint64_t)
#undef METER_ATOMIC
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

void __sanitizer_cov_trace_pc() {
    if (meter::the_meter.listening() && simt::running->in_toolkit == 0) meter::the_meter.enter(METER_CODE);
}

}  // extern "C"
