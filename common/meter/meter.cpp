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
#include "meter/warp_log.hpp"
#include "simt/diagnose.hpp"
#include "simt/scheduler.hpp"
#include "simt/stacks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <set>
#include <string>
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

/// A piece of memory that kernels reach, with its shadow.
struct Region {
    simt::Range range;
    Space space = Space::none;
    std::string name;
    bool written = false;  // before the launch
    std::uint64_t serial = 0;
    std::unique_ptr<Shadow> shadow;  // made at the first access
    std::uint32_t epoch = 0;
    std::unique_ptr<Words> words;  // made at the first write
    std::uint32_t written_in = 0;  // the last epoch of a write

    std::string text() const { return serial != 0 ? "\"" + name + "\"" : name; }
};

class Meter final : public simt::Probe {
  public:
    void observation_begins(const kata::Conditions& conditions) override {
        counts_ = {};
        findings_.clear();
        told_.clear();
        only_ = conditions.only_block;
        places_.clear();
        place_of_.clear();
        observing_ = conditions.metered;
    }
    void observation_ends(kata::Observation& seen) override {
        observing_ = false;
        seen.counts = counts_;
        seen.findings = std::move(findings_);
        seen.places = places_;
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
    void warp_stops(const simt::Block& block, unsigned warp) override;
    void synchronising(const void* code) override { enter(code); }
    void fence(const simt::Block& block, const simt::Thread& t) override {
        clocks_.fence(block.slot, t.linear);
    }
    void atomic(const void* address, unsigned bytes, const void* code, simt::AtomicFor whom) override {
        touch(address, bytes, whom == simt::AtomicFor::device ? Verb::update : Verb::update_in_block, code);
    }
    void atomic_load(const void* address, unsigned bytes, const void* code, simt::AtomicFor whom) override {
        touch(address, bytes,
              whom == simt::AtomicFor::device ? Verb::atomic_read : Verb::atomic_read_in_block, code);
    }
    void atomic_store(const void* address, unsigned bytes, const void* code, simt::AtomicFor whom) override {
        touch(address, bytes,
              whom == simt::AtomicFor::device ? Verb::atomic_write : Verb::atomic_write_in_block, code);
    }
    void copy_begins(const void* to, const void* from, unsigned bytes, unsigned read, const char* name,
                     const void* code) override;
    void copy_arrives(const void* to, unsigned bytes, const void* code) override;
    bool log_full(const simt::Thread& t) override { return log_of(t).full(t.lane()); }

    /// Whether anybody wants to know what kernels do.
    bool observing() const { return observing_; }

    /// On the thread's side.
    void enter(const void* code) {
        if (asked_.thread) hear_answer();
        log({0, offset_of(code), 0, What::basic_block, Space::none});
    }
    void touch(const void* address, std::size_t bytes, Verb verb, const void* code);
    void check_stack(const void* here_on_stack, const void* code);

    /// Outside of kernels: the host reaches memory, which on a GPU must not be the device's.
    void touch_from_host(const void* address, Verb verb, const void* code);

  private:
    bool counted(const simt::Block& block) const { return !only_ || *only_ == block.linear; }
    WarpLog& log_of(const simt::Thread& t) { return logs_[simt::running_block->slot][t.warp()]; }
    std::uint32_t offset_of(const void* code) const {
        return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(code) - image_.base);
    }
    /// Remembers an event of the running thread, which may have to wait for a place.
    void log(const Event& event) {
        const auto& t = *simt::running;
        auto& log = log_of(t);
        if (log.full(t.lane())) simt::pause();
        log.add(t.lane(), event);
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
    void take(Group, Chain&, kata::Counts&);
    void end_polling(const simt::Block&);
    kata::Place& place(std::uint32_t code);
    Region* global_at(std::uintptr_t address);
    /// When what the group reads was last written, in this launch.
    std::uint64_t written_to(Group);
    void write(Group, std::uint64_t time, bool counted);

    Region* region_of(std::uintptr_t address);
    Region* find_region(std::uintptr_t address);
    [[noreturn]] void refuse(std::uintptr_t address, std::size_t bytes, Verb verb, const void* code);
    void tell_clash(const Region&, std::uintptr_t address, Verb verb, std::uint32_t code, const Record&);
    void tell_unwritten(const Region&, std::uint32_t code);
    void tell_too_early(const Region&, Verb verb, std::uint32_t code, std::uint32_t copy);
    void tell(std::string text) { findings_.push_back(std::move(text)); }
    std::string here() const { return simt::name_of(simt::running->index, simt::running_block->index); }
    std::string name_of(const Record&) const;
    std::string line(std::uint32_t code) const { return line_of(image_, code); }

    kata::Counts counts_;
    std::vector<std::string> findings_;
    std::set<std::pair<std::string, std::string>> told_;  // the two lines of a finding
    std::optional<std::uint64_t> only_;
    bool observing_ = false;

    simt::Image image_;
    dim3 block_dim_, grid_dim_;
    std::size_t shared_limit_ = 0;
    simt::Range arguments_, constants_;
    std::vector<Region> globals_;
    Region variables_;                                      // __device__ variables of the module
    std::array<Region, 2> static_shared_, dynamic_shared_;  // of each resident block
    // Of each resident block, for they have their shared memory at the same addresses.
    std::array<Region*, 2> last_{};
    std::uint32_t epoch_ = 0;
    std::array<std::vector<WarpLog>, 2> logs_;
    std::array<Flights, 2> flights_;  // of each resident block
    Clocks clocks_;

    std::array<std::vector<Chain>, 2> chains_;  // of the warps of each resident block
    Region* last_reached_ = nullptr;
    std::vector<std::uint64_t> work_of_blocks_;   // in this launch
    std::uint64_t longest_ = 0, contention_ = 0;  // in this launch
    std::array<std::vector<Poll>, 2> polls_;      // of the threads of each resident block
    bool polled_ = false;                         // in this launch
    std::vector<kata::Place> places_;
    std::vector<std::uint32_t> place_of_;  // by code: 1 + the index in places_, or 0
    struct {
        const simt::Thread* thread = nullptr;
        const void* address = nullptr;
        std::size_t bytes = 0;
        std::uint64_t held = 0;
    } asked_;
};

Meter the_meter;

void Meter::launch_begins(const simt::Grid& grid) {
    ++counts_.launches;
    ++epoch_;
    last_ = {};
    if (image_.path != grid.image.path) {  // places of another module: a step has one
        places_.clear();
        place_of_.clear();
    }
    image_ = grid.image;
    block_dim_ = grid.block_dim;
    grid_dim_ = grid.grid_dim;
    shared_limit_ = grid.shared_limit;
    const auto address = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p); };
    arguments_ = {address(grid.launch.arguments),
                  address(grid.launch.arguments) + grid.launch.arguments_bytes};
    constants_ = {address(grid.launch.constants), address(grid.launch.constants_end)};
    // Shadows of buffers that are still there are kept: clearing them would cost more than the epoch does.
    std::vector<Region> globals;
    for (const auto& a : simt::allocations()) {
        auto old = std::find_if(globals_.begin(), globals_.end(),
                                [&](const Region& r) { return r.serial == a.serial; });
        Region region{a.range, Space::global, a.name, a.written, a.serial, nullptr, epoch_, nullptr};
        if (old != globals_.end()) {
            region.shadow = std::move(old->shadow);
            region.words = std::move(old->words);
        }
        globals.push_back(std::move(region));
    }
    globals_ = std::move(globals);
    if (variables_.range.begin != image_.writable.begin)
        variables_ = {image_.writable, Space::global, "a __device__ variable", true, 0, nullptr, 0, nullptr};
    variables_.epoch = epoch_;
    last_reached_ = nullptr;
    work_of_blocks_.clear();
    longest_ = contention_ = 0;
    polled_ = false;
    asked_ = {};
}

void Meter::launch_ends() {
    clocks_.end_launch();
    counts_.span += std::max(longest_, contention_);
    counts_.makespan +=
        std::max({longest_ * kata::machine::latency, contention_, busiest(std::move(work_of_blocks_))});
    counts_.contention += contention_;
    work_of_blocks_.clear();
}

void Meter::block_begins(const simt::Block& block) {
    ++epoch_;
    const auto set = [&](Region& region, simt::Range range, const char* name) {
        if (region.range.begin != range.begin || region.range.end != range.end)
            region = {range, Space::shared, name, false, 0, nullptr, 0, nullptr};
        region.epoch = epoch_;
        if (region.shadow) region.shadow->words_touched = 0;
    };
    set(static_shared_[block.slot], image_.shared, "shared memory");
    const auto dynamic = reinterpret_cast<std::uintptr_t>(block.dynamic.data());
    set(dynamic_shared_[block.slot], {dynamic, dynamic + block.dynamic.size()}, "dynamic shared memory");
    last_[block.slot] = nullptr;
    flights_[block.slot].clear();
    clocks_.start_block(block.slot, static_cast<std::uint32_t>(block.linear),
                        static_cast<unsigned>(block.threads.size()));
    auto& logs = logs_[block.slot];
    logs.resize(std::max<std::size_t>(logs.size(), block.warps()));
    for (auto& log : logs) log.clear();
    chains_[block.slot].assign(block.warps(), {});
    polls_[block.slot].assign(polled_ ? block.threads.size() : 0, {});
}

void Meter::end_polling(const simt::Block& block) {
    kata::Counts elsewhere;
    for (auto& chain : chains_[block.slot]) chain.end_polling(counted(block) ? counts_ : elsewhere);
}

void Meter::block_ends(const simt::Block& block) {
    end_polling(block);
    if (!counted(block)) return;
    ++counts_.blocks;
    counts_.threads += block.threads.size();
    std::uint64_t work = 0;
    for (const auto& chain : chains_[block.slot]) {
        work += chain.work();
        longest_ = std::max(longest_, chain.time());
    }
    counts_.work += work;
    work_of_blocks_.push_back(work);
}

void Meter::barrier(const simt::Block& block) {
    clocks_.barrier(block.slot);
    if (counted(block)) ++counts_.barriers;
    // The logs of the other warps have been read when they came to the barrier.
    read_log(block, simt::running->warp(), ~0u);
    end_polling(block);
    std::uint64_t latest = 0;
    for (const auto& chain : chains_[block.slot]) latest = std::max(latest, chain.time());
    for (auto& chain : chains_[block.slot]) chain.wait_until(latest);
}

void Meter::warp_stops(const simt::Block& block, unsigned warp) {
    std::uint32_t waiting = 0;
    for (unsigned l = 0; l < 32; ++l) {
        const auto i = warp * 32 + l;
        if (i >= block.threads.size() || block.threads[i].state != simt::State::ready) waiting |= 1u << l;
    }
    read_log(block, warp, waiting);
}

void Meter::read_log(const simt::Block& block, unsigned warp, std::uint32_t waiting) {
    kata::Counts elsewhere;
    auto& counts = counted(block) ? counts_ : elsewhere;
    auto& chain = chains_[block.slot][warp];
    logs_[block.slot][warp].read(waiting, [&](Group group) { take(group, chain, counts); });
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

void Meter::take(Group group, Chain& chain, kata::Counts& counts) {
    const auto& first = *group.front();
    if (chain.polling()) {
        if (chain.round(group, account)) return;
        if (chain.next_round(group)) {
            kata::Counts vain;
            return chain.wait_until(written_to(group) + account(group, vain));
        }
        chain.end_polling(counts);
    }
    const auto lines = counts.lines;
    const auto steps = account(group, counts);
    auto& here = place(first.code);
    here.steps += steps;
    if (first.what == What::basic_block) return chain.step(steps);
    ++here.requests;
    if (first.space != Space::global) return chain.step(steps);
    here.lines += counts.lines - lines;
    if (first.what == What::atomic) here.atomics += group.size();
    chain.wait_until(written_to(group));
    chain.step(steps);
    if (first.polls) chain.begin_polling(group);
    if (first.what != What::load) write(group, chain.time(), &counts == &counts_);
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
    for (const auto* e : group) {
        if (e->what != What::load && !e->only_reads) continue;
        const auto* region = global_at(e->address);
        if (region && region->words && region->written_in == region->epoch)
            latest = std::max(
                latest, region->words->written(e->address - region->range.begin, e->bytes, region->epoch));
    }
    return latest;
}

void Meter::write(Group group, std::uint64_t time, bool counted) {
    for (const auto* e : group) {
        auto* region = global_at(e->address);
        if (!region) continue;
        if (!region->words) region->words = std::make_unique<Words>(region->range.size());
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
    asked_ = {simt::running, address, bytes, 0};
    std::memcpy(&asked_.held, address, bytes);
}

void Meter::hear_answer() {
    const auto asked = std::exchange(asked_, {});
    if (asked.thread != simt::running) return;
    std::uint64_t holds = 0;
    std::memcpy(&holds, asked.address, asked.bytes);
    if (holds != asked.held) return;
    polls_[simt::running_block->slot][simt::running->linear].last = true;
    auto* event = log_of(*simt::running).last(simt::running->lane());
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

void Meter::touch(const void* pointer, std::size_t bytes, Verb verb, const void* code) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    if (simt::stacks.contains(address) || arguments_.contains(address)) return;
    if (asked_.thread) hear_answer();
    const auto what = updates(verb) ? What::atomic : writes(verb) ? What::store : What::load;
    Event event{address, offset_of(code), static_cast<std::uint8_t>(bytes), what, Space::constant};
    if (constants_.contains(address)) {
        if (writes(verb)) refuse(address, bytes, verb, code);
        return log(event);
    }
    auto* region = region_of(address);
    if (!region) {
        if (is_built_in(address)) return;
        if (!image_.all.contains(address) || writes(verb)) refuse(address, bytes, verb, code);
        return;  // a table that the compiler has put among the code
    }
    const auto offset = address - region->range.begin;
    if (bytes > region->range.end - address) refuse(address, bytes, verb, code);
    if ((address & (bytes - 1)) != 0)
        simt::give_up("misaligned access: " + here() + " reaches " + std::to_string(bytes) +
                      " bytes at offset " + std::to_string(offset) + " of " + region->text() +
                      ", which is no multiple of " + std::to_string(bytes) + ", in " + line(event.code));
    event.space = region->space;
    const auto slot = simt::running_block->slot;
    const auto thread = simt::running->linear;
    const bool global = region->space == Space::global;
    if (global && signals(verb) && reads(verb)) {
        event.polls = true;
        event.repeats = polls_again(address, verb, event.code);
    } else if (polled_ && (global || writes(verb)) && !polls_[slot].empty()) {
        polls_[slot][thread].last = false;
    }
    log(event);
    if (global && verb == Verb::update) ask(pointer, bytes);

    if (!region->shadow) region->shadow = std::make_unique<Shadow>(region->range.size(), global);
    if (global && writes(verb)) clocks_.write(slot, thread);
    if (global && signals(verb) && writes(verb)) clocks_.release(slot, thread, address);
    const auto answer =
        region->shadow->access(offset, bytes, verb, event.code, region->epoch, clocks_, slot, thread);
    if (global && signals(verb) && reads(verb)) clocks_.acquire(slot, thread, address);
    if (answer.unwritten && reads(verb) && !region->written) tell_unwritten(*region, event.code);
    if (answer.clash) tell_clash(*region, address, verb, event.code, *answer.clash);
    if (global) return;
    if (const auto copy = flights_[slot].over(address, bytes))
        tell_too_early(*region, verb, event.code, *copy);
    const auto& fixed = static_shared_[slot].shadow;
    const auto used = 4 * (fixed ? fixed->words_touched : 0) + dynamic_shared_[slot].range.size();
    if (used > shared_limit_)
        simt::give_up("shared memory over the limit: a block uses more than the " +
                      std::to_string(shared_limit_) + " bytes that it has, in " + line(event.code));
}

/// The copy reaches both memories when it begins. What nobody orders with that, or with its arrival, clashes.
void Meter::copy_begins(const void* to, const void* from, unsigned bytes, unsigned read, const char* name,
                        const void* code) {
    const auto address = reinterpret_cast<std::uintptr_t>(to);
    if (const auto* region = region_of(address); !region || region->space != Space::shared)
        simt::give_up(std::string(name) + " copies into shared memory, and " + here() +
                      " gives it another address, in " + line(offset_of(code)));
    touch(to, bytes, Verb::write, code);
    flights_[simt::running_block->slot].start(address, bytes, offset_of(code));
    for (unsigned done = 0; done < read;) {  // in pieces that a load has
        const unsigned piece = std::bit_floor(read - done);
        touch(static_cast<const std::byte*>(from) + done, piece, Verb::read, code);
        done += piece;
    }
}

void Meter::copy_arrives(const void* to, unsigned bytes, const void* code) {
    const auto address = reinterpret_cast<std::uintptr_t>(to);
    const auto slot = simt::running_block->slot;
    auto* const region = region_of(address);
    flights_[slot].land(address, bytes);
    const auto answer =
        region->shadow->access(address - region->range.begin, bytes, Verb::write, offset_of(code),
                               region->epoch, clocks_, slot, simt::running->linear);
    if (answer.clash) tell_clash(*region, address, Verb::write, offset_of(code), *answer.clash);
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

void Meter::refuse(std::uintptr_t address, std::size_t bytes, Verb verb, const void* code) {
    const auto whole = std::to_string(bytes) + " bytes ";
    std::string text = "out of bounds: " + here() + (writes(verb) ? " writes " : " reads ") + whole;
    const Region* near = nullptr;
    std::uintptr_t distance = 1 << 24;
    const auto consider = [&](const Region& r) {
        if (r.range.begin == 0 || (r.range.size() == 0 && address < r.range.begin)) return;
        const auto d = address < r.range.begin ? r.range.begin - address : address + bytes - r.range.end;
        if (d < distance) {
            distance = d;
            near = &r;
        }
    };
    for (const auto& r : globals_) consider(r);
    const auto slot = simt::running_block->slot;
    consider(static_shared_[slot]);
    consider(dynamic_shared_[slot]);
    if (address < 4096) {
        text += "through a null pointer";
    } else if (constants_.contains(address)) {
        text += "of constant memory, which a kernel cannot";
    } else if (near) {
        const auto& r = near->range;
        if (address < r.begin)
            text += std::to_string(r.begin - address) + " bytes before the start of ";
        else if (address >= r.end)
            text += (address == r.end ? "right" : std::to_string(address - r.end) + " bytes") +
                    " past the end of ";
        else
            text += "of which the last " + std::to_string(distance) + " lie past the end of ";
        text += near->text() + " (" + std::to_string(r.size()) + " bytes)";
    } else {
        text +=
            image_.all.contains(address) ? "of the module's constants or code" : "that are not device memory";
    }
    simt::give_up(text + ", in " + line(offset_of(code)));
}

void Meter::check_stack(const void* here_on_stack, const void* code) {
    constexpr std::ptrdiff_t reserve = 24 * 1024;  // for what the runtime itself does on this stack
    if (static_cast<const std::byte*>(here_on_stack) - simt::running->stack < reserve)
        simt::give_up("stack overflow: " + here() + " has no room for its local variables in " +
                      line(offset_of(code)) + "; does a recursion end, and are its arrays small?");
}

std::string Meter::name_of(const Record& r) const {
    const auto thread =
        r.warp * 32u + (r.lanes >> r.lane & 1 ? r.lane : static_cast<unsigned>(std::countr_zero(r.lanes)));
    const auto& b = block_dim_;
    const auto& g = grid_dim_;
    return simt::name_of(uint3{thread % b.x, thread / b.x % b.y, thread / b.x / b.y},
                         uint3{r.block % g.x, r.block / g.x % g.y, r.block / g.x / g.y});
}

void Meter::tell_clash(const Region& region, std::uintptr_t address, Verb verb, std::uint32_t code,
                       const Record& clash) {
    if (findings_.size() >= most_findings) return;
    const auto mine = line(code), other = line(clash.code);
    if (!told_.insert(std::minmax(mine, other)).second) return;
    const auto did = [](Verb v) {
        return std::string(updates(v)  ? " updates"
                           : writes(v) ? " writes"
                                       : " reads") +
               (is_atomic(v) ? " atomically in " : " in ");
    };
    const bool same_block = clash.block == simt::running_block->linear;
    const bool of_block =
        (is_atomic(verb) && !signals(verb)) || (is_atomic(clash.verb) && !signals(clash.verb));
    const bool same_warp = same_block && clash.warp == simt::running->warp();
    // where the compiler puts a block's arrays says nothing to their owner
    const bool fixed =
        region.space == Space::shared && &region != &dynamic_shared_[simt::running_block->slot];
    tell(
        "race in " + std::string(region.serial != 0 ? "global memory " : "") + region.text() +
        (fixed ? "" : ", byte " + std::to_string(address - region.range.begin)) + ": nothing orders\n  " +
        name_of(clash) + did(clash.verb) + other + "\n  " + here() + did(verb) + mine +
        (same_warp
             ? "\n  is a __syncthreads() missing between them (__syncwarp(), if only the warp shares it), or "
               "must it be an atomic?"
         : same_block ? "\n  is a __syncthreads() missing between them, or must it be an atomic?"
         : of_block
             ? "\n  an atomic of the block is one to its own threads alone: give it the scope of the device"
             : "\n  blocks run in any order: use an atomic, or one as a flag with a __threadfence() "
               "on both of its sides"));
}

void Meter::tell_too_early(const Region& region, Verb verb, std::uint32_t code, std::uint32_t copy) {
    if (findings_.size() >= most_findings) return;
    const auto mine = line(code), other = line(copy);
    if (!told_.insert(std::minmax(mine, other)).second) return;
    tell(std::string(writes(verb) ? "write" : "read") + " before the copy into shared memory has arrived: " +
         here() + (writes(verb) ? " writes to " : " reads ") + region.text() + " in " + mine +
         ", where the copy of " + other +
         " is still under way\n  wait for it with __pipeline_commit() and "
         "__pipeline_wait_prior(0), and then with a barrier for those of the other threads");
}

void Meter::tell_unwritten(const Region& region, std::uint32_t code) {
    if (findings_.size() >= most_findings) return;
    const auto at = line(code);
    if (!told_.insert({at, ""}).second) return;
    tell("read of what nobody has written: " + here() + " reads " + region.text() + " in " + at);
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

void heard(const void* address, std::size_t bytes, Verb verb, const void* code) {
    if (!simt::running) return meter::the_meter.touch_from_host(address, verb, code);
    if (verb == Verb::volatile_read) simt::poll();
    if (!meter::the_meter.observing()) return;
    meter::the_meter.touch(address, bytes, verb, code);
}

/// A structure that is less aligned than it is wide is moved in pieces, of four bytes for most.
void heard_range(const void* address, std::size_t bytes, Verb verb, const void* code) {
    const auto half = bytes <= 16 && std::has_single_bit(bytes) ? std::min<std::size_t>(4, bytes / 2) : 16;
    const auto bits = reinterpret_cast<std::uintptr_t>(address) | bytes | half;
    const auto piece = bits & -bits;
    for (std::size_t done = 0; done < bytes; done += piece)
        heard(static_cast<const std::byte*>(address) + done, piece, verb, code);
}

}  // namespace

extern "C" {

#define METER_ACCESS(n)                                                                                     \
    void __tsan_read##n(void* p) { heard(p, n, Verb::read, METER_CODE); }                                   \
    void __tsan_write##n(void* p) { heard(p, n, Verb::write, METER_CODE); }                                 \
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

void __tsan_read_range(void* p, unsigned long bytes) { heard_range(p, bytes, Verb::read, METER_CODE); }
void __tsan_write_range(void* p, unsigned long bytes) { heard_range(p, bytes, Verb::write, METER_CODE); }
void __tsan_init() {}
void __tsan_func_entry(void*) {
    if (simt::running && meter::the_meter.observing())
        meter::the_meter.check_stack(__builtin_frame_address(0), METER_CODE);
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
    if (simt::running && meter::the_meter.observing()) meter::the_meter.enter(METER_CODE);
}

}  // extern "C"
