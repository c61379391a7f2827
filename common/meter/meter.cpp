// The meter: receives the calls that -fsanitize=thread and -fsanitize-coverage=trace-pc put into a kernel,
// one before every load and store and one at the start of every basic block, and makes of them counts and
// findings.
//
// The names of these callbacks are an agreement between g++ and its sanitizer runtimes, which are not linked.
// This file and what it calls must not be instrumented itself.
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
#include <map>
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
    std::unique_ptr<Shadow> shadow;  // made at the first access
    std::uint32_t epoch = 0;

    std::string text() const { return serial != 0 ? "\"" + name + "\"" : name; }
};

class Meter final : public simt::Probe {
  public:
    void observation_begins(const kata::Conditions& conditions) override {
        counts_ = {};
        findings_.clear();
        told_.clear();
        only_ = conditions.only_block;
        observing_ = true;
    }
    void observation_ends(kata::Observation& seen) override {
        observing_ = false;
        seen.counts = counts_;
        seen.findings = std::move(findings_);
    }

    void launch_begins(const simt::Grid& grid) override;
    void launch_ends() override {
        settle_overwrite();
        for (const auto& lost : repeated_)
            if (value_at(lost.address, lost.bytes) != lost.value) tell(lost.text);
        clocks_.end_launch();
    }
    void block_begins(const simt::Block&) override;
    void block_ends(const simt::Block& block) override;
    void barrier(const simt::Block& block) override {
        clocks_.barrier(block.slot);
        if (counted(block)) ++counts_.barriers;
    }
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
    void read_only(const void* address, unsigned bytes, const void* code) override;
    std::string callers(const void* code) const override { return callers_of(image_, offset_of(code)); }
    std::uint64_t steps() const override { return steps_; }
    bool in_doubt() const override { return !doubts_.empty(); }
    void rehearsal_begins() override {
        rehearsed_ = counts_;
        doubts_before_ = std::exchange(doubts_, {});
        rehearsing_ = true;
    }
    void rehearsal_ends(bool different) override {
        rehearsing_ = false;
        counts_ = rehearsed_;
        for (auto& [at, text] : doubts_before_)
            if (different && findings_.size() < most_findings && told_.insert({at, ""}).second)
                tell(std::move(text));
    }
    void host_reaches(const void* address, bool writes, const void* code) override {
        touch_from_host(address, writes ? Verb::write : Verb::read, code);
    }
    bool log_full(const simt::Thread& t) override { return log_of(t).full(t.lane()); }

    /// On the thread's side.
    void enter(const void* code) { log({0, offset_of(code), 0, What::basic_block, Space::none}); }
    void touch(const void* address, std::size_t bytes, Verb verb, const void* code);
    /// To be called before a volatile access of the running thread, which may give way here.
    void before_volatile(const void* address, std::size_t bytes, Verb verb, const void* code);
    /// To be called when an access that has been announced must have happened.
    void settle_overwrite();
    void check_stack(const void* here_on_stack, const void* code);

    /// An index that its array does not have, of which the type is given as "'float [32]'".
    void refuse_index(const std::string& index, const std::string& type, const std::string& at);

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
        ++steps_;
        const auto& t = *simt::running;
        auto& log = log_of(t);
        if (log.full(t.lane())) simt::pause();
        log.add(t.lane(), event);
    }

    Region* region_of(std::uintptr_t address);
    Region* find_region(std::uintptr_t address);
    [[noreturn]] void refuse(std::uintptr_t address, std::size_t bytes, Verb verb, const void* code);
    std::string text_of(const Region&, std::uintptr_t address, std::size_t bytes) const;
    void tell_clash(const Region&, std::uintptr_t address, std::size_t bytes, Verb verb, std::uint32_t code,
                    const Record&);
    void tell_unwritten(const Region&, std::uintptr_t address, std::size_t bytes, std::uint32_t code);
    void tell_read_only(const Region&, std::uintptr_t address, std::size_t bytes, std::uint32_t writes,
                        std::uint32_t reads);
    void tell(std::string text) {
        if (!rehearsing_) findings_.push_back(std::move(text));
    }
    std::string here() const { return simt::name_of(simt::running->index, simt::running_block->index); }
    std::string name_of(const Record&) const;
    std::string line(std::uint32_t code) const { return line_of(image_, code); }

    kata::Counts counts_;
    std::uint64_t steps_ = 0;
    std::vector<std::string> findings_;
    // Reads of shared memory that nobody wrote, by line, until it is known whether they change anything.
    std::map<std::string, std::string> doubts_, doubts_before_;
    std::set<std::uint32_t> doubted_;  // the code that did so in this launch
    bool rehearsing_ = false;
    kata::Counts rehearsed_;                              // what was counted before
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
    /// What a thread last read of a volatile, of each thread that may overwrite it.
    struct Look {
        std::uintptr_t address = 0;
        std::uint64_t value = 0;
    };
    static constexpr unsigned looks = 4;  // the last of a thread
    std::array<std::vector<std::array<Look, looks>>, 2> looks_;
    /// A volatile write of what somebody else has changed since it was read; lost, unless it changes nothing.
    struct Overwrite {
        const void* address = nullptr;
        std::size_t bytes = 0;
        std::uint64_t value = 0;  // that is lost
        std::string text;
    };
    Overwrite overwrite_;
    std::vector<Overwrite> repeated_;  // by the same value, which a flag bears and a sum does not
    unsigned gave_way_ = 0;            // before such writes, in this launch
    bool mixed_ = false;               // several blocks run alternately
    Clocks clocks_;
};

Meter the_meter;

void Meter::launch_begins(const simt::Grid& grid) {
    ++counts_.launches;
    ++epoch_;
    last_ = {};
    image_ = grid.image;
    block_dim_ = grid.block_dim;
    grid_dim_ = grid.grid_dim;
    shared_limit_ = grid.shared_limit;
    mixed_ = grid.conditions.order == kata::Order::shuffled &&
             grid.grid_dim.x * grid.grid_dim.y * grid.grid_dim.z > 1;
    gave_way_ = 0;
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
        Region region{a.range, Space::global, a.name, a.written, a.serial, nullptr, epoch_};
        if (old != globals_.end()) region.shadow = std::move(old->shadow);
        globals.push_back(std::move(region));
    }
    globals_ = std::move(globals);
    if (variables_.range.begin != image_.writable.begin)
        variables_ = {image_.writable, Space::global, "a __device__ variable", true, 0, nullptr, 0};
    variables_.epoch = epoch_;
}

void Meter::block_begins(const simt::Block& block) {
    ++epoch_;
    const auto set = [&](Region& region, simt::Range range, const char* name) {
        if (region.range.begin != range.begin || region.range.end != range.end)
            region = {range, Space::shared, name, false, 0, nullptr, 0};
        region.epoch = epoch_;
        if (region.shadow) region.shadow->words_touched = 0;
    };
    set(static_shared_[block.slot], image_.shared, "shared memory");
    const auto dynamic = reinterpret_cast<std::uintptr_t>(block.dynamic.data());
    set(dynamic_shared_[block.slot], {dynamic, dynamic + block.dynamic.size()}, "dynamic shared memory");
    last_[block.slot] = nullptr;
    clocks_.start_block(block.slot, static_cast<std::uint32_t>(block.linear),
                        static_cast<unsigned>(block.threads.size()));
    if (mixed_) looks_[block.slot].assign(block.threads.size(), {});
    auto& logs = logs_[block.slot];
    logs.resize(std::max<std::size_t>(logs.size(), block.warps()));
    for (auto& log : logs) log.clear();
}

void Meter::block_ends(const simt::Block& block) {
    if (!counted(block)) return;
    ++counts_.blocks;
    counts_.threads += block.threads.size();
}

void Meter::warp_stops(const simt::Block& block, unsigned warp) {
    std::uint32_t waiting = 0;
    for (unsigned l = 0; l < 32; ++l) {
        const auto i = warp * 32 + l;
        if (i >= block.threads.size() || block.threads[i].state != simt::State::ready) waiting |= 1u << l;
    }
    if (counted(block)) {
        logs_[block.slot][warp].read(waiting, counts_);
    } else {
        kata::Counts elsewhere;
        logs_[block.slot][warp].read(waiting, elsewhere);
    }
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
    log(event);

    const auto slot = simt::running_block->slot;
    const auto thread = simt::running->linear;
    const bool global = region->space == Space::global;
    if (!region->shadow) region->shadow = std::make_unique<Shadow>(region->range.size(), global);
    if (global && writes(verb)) clocks_.write(slot, thread);
    if (global && signals(verb) && writes(verb)) clocks_.release(slot, thread, address);
    const auto answer =
        region->shadow->access(offset, bytes, verb, event.code, region->epoch, clocks_, slot, thread);
    if (global && signals(verb) && reads(verb)) clocks_.acquire(slot, thread, address);
    if (answer.unwritten && reads(verb) && !region->written)
        tell_unwritten(*region, address, bytes, event.code);
    if (answer.read_only) tell_read_only(*region, address, bytes, event.code, *answer.read_only);
    if (answer.clash) tell_clash(*region, address, bytes, verb, event.code, *answer.clash);
    if (global) return;
    const auto& fixed = static_shared_[slot].shadow;
    const auto used = 4 * (fixed ? fixed->words_touched : 0) + dynamic_shared_[slot].range.size();
    if (used > shared_limit_)
        simt::give_up("shared memory over the limit: a block uses more than the " +
                      std::to_string(shared_limit_) + " bytes that it has, in " + line(event.code));
}

void Meter::read_only(const void* pointer, unsigned bytes, const void* code) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    auto* region = region_of(address);
    if (!region || region->space != Space::global || bytes > region->range.end - address) return;
    if (!region->shadow) region->shadow = std::make_unique<Shadow>(region->range.size(), true);
    const auto at = offset_of(code);
    if (const auto writer =
            region->shadow->read_only(address - region->range.begin, bytes, at, region->epoch))
        tell_read_only(*region, address, bytes, *writer, at);
}

/// A block that reads a volatile and writes it again may have been overtaken by another in between. Where two
/// blocks run alternately, the other gets the chance to do so.
void Meter::before_volatile(const void* pointer, std::size_t bytes, Verb verb, const void* code) {
    constexpr unsigned enough = 1000;
    if (!mixed_) return;
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    if (simt::stacks.contains(address)) return;
    const auto slot = simt::running_block->slot;
    auto& seen = looks_[slot][simt::running->linear];
    if (verb == Verb::volatile_read) {
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
    overwrite_ = {
        pointer, bytes, now,
        "lost update of global memory " + text_of(*region_of(address), address, bytes) + ": " + here() +
            " writes in " + at +
            " what it has made of an older value, for another thread has written it since\n  volatile "
            "keeps nobody out between a read and a write: use an atomic"};
    told_.insert({at, "lost"});
}

/// Two that write the same value may have lost nothing: that shows where the word changes once more.
void Meter::settle_overwrite() {
    if (!overwrite_.address) return;
    auto lost = std::exchange(overwrite_, {});
    if (value_at(lost.address, lost.bytes) != lost.value)
        tell(lost.text);
    else
        repeated_.push_back(std::move(lost));
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
    const auto whole = std::to_string(bytes) + " bytes ";
    std::string text = "out of bounds: " + here() + (writes(verb) ? " writes " : " reads ") + whole;
    // On either side the nearest: a buffer says nothing of what is meant where another is as near.
    Miss before, behind;
    const auto consider = [&](const Region& r) {
        if (r.range.begin == 0 || (r.range.size() == 0 && address < r.range.begin)) return;
        auto range = r.range;
        auto name = r.text();
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
                behind = {distance, std::to_string(distance) + " bytes before the start of " + name + size};
        } else if (const auto distance = address + bytes - range.end; distance < before.distance) {
            before = {distance,
                      (address == range.end ? "right past the end of "
                       : address > range.end
                           ? std::to_string(address - range.end) + " bytes past the end of "
                           : "of which the last " + std::to_string(distance) + " lie past the end of ") +
                          name + size};
        }
    };
    for (const auto& r : globals_) consider(r);
    const auto slot = simt::running_block->slot;
    consider(static_shared_[slot]);
    consider(dynamic_shared_[slot]);
    const auto near = std::min(before.distance, behind.distance),
               far = std::max(before.distance, behind.distance);
    constexpr std::uintptr_t reach = 1 << 24, next_to_it = 256;
    if (address < 4096)
        text += "through a null pointer";
    else if (constants_.contains(address))
        text += "of constant memory, which a kernel cannot";
    else if (near < reach)
        text += (before.distance < behind.distance ? before : behind).text +
                (near <= next_to_it || far >= reach
                     ? ""
                     : ", which is " + (before.distance < behind.distance ? behind : before).text);
    else
        text +=
            image_.all.contains(address) ? "of the module's constants or code" : "that are not device memory";
    simt::give_up(text + ", in " + line(offset_of(code)));
}

void Meter::refuse_index(const std::string& index, const std::string& type, const std::string& at) {
    const auto what = " uses index " + index + " of an array of type " + type + ", in " + at;
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

std::string Meter::name_of(const Record& r) const {
    const auto thread =
        r.warp * 32u + (r.lanes >> r.lane & 1 ? r.lane : static_cast<unsigned>(std::countr_zero(r.lanes)));
    const auto& b = block_dim_;
    const auto& g = grid_dim_;
    return simt::name_of(uint3{thread % b.x, thread / b.x % b.y, thread / b.x / b.y},
                         uint3{r.block % g.x, r.block / g.x % g.y, r.block / g.x / g.y});
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
    return region.text() +
           (named && region.range.begin != image_.shared.begin ? element(region.range.begin) : "");
}

void Meter::tell_clash(const Region& region, std::uintptr_t address, std::size_t bytes, Verb verb,
                       std::uint32_t code, const Record& clash) {
    if (findings_.size() >= most_findings) return;
    const auto mine = line(code), other = line(clash.code);
    if (!told_.insert(std::minmax(mine, other)).second) return;
    const auto did = [](Verb v) {
        return updates(v) ? " updates atomically in " : writes(v) ? " writes in " : " reads in ";
    };
    const bool same_block = clash.block == simt::running_block->linear;
    const bool same_warp = same_block && clash.warp == simt::running->warp();
    const bool same_store = clash.code == code && verb == Verb::write && clash.verb == Verb::write;
    const bool of_block =
        !same_block && (verb == Verb::update_in_block || clash.verb == Verb::update_in_block);
    tell("race in " + std::string(region.serial != 0 ? "global memory " : "") +
         text_of(region, address, bytes) + ": nothing orders\n  " + name_of(clash) + did(clash.verb) + other +
         "\n  " + here() + did(verb) + mine +
         (same_store ? std::string("\n  both store at the same index: ") +
                           (same_block ? "should only one of them store, or is threadIdx missing from it?"
                                       : "is blockIdx missing from it, or should only one block store?")
          : of_block
              ? "\n  an atomic that ends in _block is one to the threads of its own block alone: leave the "
                "_block away"
          : same_warp
              ? "\n  is a __syncthreads() missing between them (__syncwarp(), if only the warp shares it), "
                "or must it be an atomic?"
          : same_block
              ? "\n  is a __syncthreads() missing between them, or must it be an atomic?"
              : "\n  blocks run in any order: use an atomic, or one as a flag with a __threadfence() on "
                "both of its sides"));
}

void Meter::tell_unwritten(const Region& region, std::uintptr_t address, std::size_t bytes,
                           std::uint32_t code) {
    // A kernel may do so harmlessly and often.
    const bool shared = region.space == Space::shared;
    if (rehearsing_ || findings_.size() >= most_findings || (shared && doubted_.contains(code))) return;
    const auto at = line(code);
    const auto text = "read of what nobody has written: " + here() + " reads " +
                      text_of(region, address, bytes) + " in " + at;
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

void heard(const void* address, std::size_t bytes, Verb verb, const void* code) {
    if (!simt::running) return meter::the_meter.touch_from_host(address, verb, code);
    meter::the_meter.settle_overwrite();
    if (verb == Verb::volatile_read) simt::poll();
    if (signals(verb)) meter::the_meter.before_volatile(address, bytes, verb, code);
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

/// memcpy and its like, in bytes as on a GPU, where the compiler knows no alignment. The reads are told from
/// the writes by their code, which for both lies within the call. `from` is null for a memset.
void heard_copy(const void* to, const void* from, std::size_t bytes, const void* code) {
    if (!simt::running) return;
    for (std::size_t i = 0; i < bytes; ++i) {
        if (from)
            heard(static_cast<const std::byte*>(from) + i, 1, Verb::read, static_cast<const char*>(code) - 1);
        heard(static_cast<const std::byte*>(to) + i, 1, Verb::write, code);
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
    meter::the_meter.refuse_index(text, at.array->name,
                                  simt::text_of(simt::Site{at.file, static_cast<int>(at.line)}));
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
    if (simt::running) meter::the_meter.check_stack(__builtin_frame_address(0), METER_CODE);
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
    if (simt::running) meter::the_meter.enter(METER_CODE);
}

}  // extern "C"
