// The table of counters: everything that limits, claims, ladders, messages and records need to know about a
// counter.
#pragma once
#include "observe.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

namespace kata {

/// The divisor that a ladder applies to a total.
enum class Per {
    nothing,
    output,   ///< elements of the result
    block,    ///< blocks of all launches
    divides,  ///< inverse: the operations of the problem, divided by the total
};
enum class Better { less, more };

struct Counter {
    std::string_view key;      ///< its name in records, data files and chapters
    std::string_view heading;  ///< heading of its column
    std::string_view narrow;   ///< heading for a terminal, in words of 7 characters; empty: `heading`
    std::string_view unit;     ///< unit of its column, without the divisor
    Per per;
    int decimals;
    Better better;
    std::string_view name;     ///< what a sentence calls it
    std::string_view meaning;  ///< explains the column to a new reader; empty: `name`
    /// Returns the total of a run. Null if only a clock can measure it.
    double (*of)(const Counts&) = nullptr;
    /// The share of one line of the source. Null if lines have none.
    std::uint64_t Place::*place = nullptr;
    std::string_view unit_of_place = "";  ///< unit for one line of the source; empty: `unit`
};

namespace counters {

constexpr double number(std::uint64_t count) { return static_cast<double>(count); }
constexpr double ratio(double part, double whole) { return whole == 0 ? 0 : part / whole; }

using C = const Counts&;
using enum Per;
using enum Better;

// A table is read by columns.
// clang-format off
inline constexpr Counter table[] = {
    // Global memory.
    {"bytes_loaded", "loaded", "", "B", output, 2, less,
     "bytes loaded from global memory", "bytes that threads load from global memory",
     [](C c) { return number(c.global_load.bytes); }, &Place::sectors_loaded, "sectors of 32 bytes"},
    {"bytes_stored", "stored", "", "B", output, 2, less,
     "bytes stored to global memory", "bytes that threads store to global memory",
     [](C c) { return number(c.global_store.bytes); }, &Place::sectors_stored, "sectors of 32 bytes"},
    {"sectors", "sectors", "", "", output, 3, less,
     "32-byte sectors loaded and stored", "pieces of 32 bytes that global memory moves for them",
     [](C c) { return number(c.global_load.transactions + c.global_store.transactions); }},
    {"sectors_loaded", "sectors loaded", "", "", output, 3, less,
     "32-byte sectors loaded", "pieces of 32 bytes that global memory moves for loads",
     [](C c) { return number(c.global_load.transactions); }, &Place::sectors_loaded},
    {"sectors_stored", "sectors stored", "", "", output, 3, less,
     "32-byte sectors stored", "pieces of 32 bytes that global memory moves for stores",
     [](C c) { return number(c.global_store.transactions); }, &Place::sectors_stored},
    {"load_efficiency", "load eff.", "", "%", nothing, 1, more,
     "percent of the loaded sectors that lanes read",
     "share of the loaded sectors that lanes read",
     [](C c) { return 100 * c.load_efficiency(); }},
    {"store_efficiency", "store eff.", "", "%", nothing, 1, more,
     "percent of the stored sectors that lanes write",
     "share of the stored sectors that lanes write",
     [](C c) { return 100 * c.store_efficiency(); }},
    {"lines", "lines", "", "", output, 3, less,
     "128-byte lines of global memory", "lines of 128 bytes that requests of global memory touch",
     [](C c) { return number(c.lines); }, &Place::lines},
    {"global_requests", "requests", "loads, stores", "", output, 3, less,
     "times that a warp loads from or stores to global memory", "",
     [](C c) { return number(c.global_load.requests + c.global_store.requests); }},
    {"stores", "stores", "", "", output, 3, less,
     "times that a warp stores to global memory", "",
     [](C c) { return number(c.global_store.requests); }, &Place::stores},
    {"load_phases", "load phases", "", "", output, 3, less,
     "times that a warp starts to load: its first load, and anew after a barrier or a shuffle",
     "loads of two such phases are never in flight together",
     [](C c) { return number(c.load_phases); }},
    {"waited_for", "waited for", "", "B", output, 2, less,
     "bytes in flight to shared memory for which a warp waits without working", "",
     [](C c) { return number(c.waited_for); }},
    {"bytes_ahead", "ahead", "", "B", output, 2, more,
     "bytes of asynchronous copies in flight at barriers", "",
     [](C c) { return number(c.bytes_ahead); }},
    {"copy_waits", "copy waits", "", "", output, 3, less,
     "times that a thread waits for asynchronous copies", "",
     [](C c) { return number(c.copy_waits); }},
    {"atomics", "atomics", "", "", output, 4, less,
     "atomics on global memory", "",
     [](C c) { return number(c.global_atomic.accesses); }, &Place::atomics},
    {"swaps", "swaps", "", "", output, 4, less,
     "compare-and-swaps that store their value", "",
     [](C c) { return number(c.swaps); }},
    {"contention", "contention", "most on one", "", nothing, 0, less,
     "atomics on the address that gets the most",
     "the most atomics on one address of global memory, which take turns",
     [](C c) { return number(c.contention); }},
    // Shared memory.
    {"shared_loads", "sh. loads", "", "", output, 2, less,
     "elements loaded from shared memory", "",
     [](C c) { return number(c.shared_load.accesses); }},
    {"shared_accesses", "sh. accesses", "sh. uses", "", output, 2, less,
     "accesses of threads to shared memory", "loads, stores and atomics of threads in shared memory",
     [](C c) { return number(c.shared_load.accesses +
                         c.shared_store.accesses + c.shared_atomic.accesses); }, &Place::passes, "passes"},
    {"shared_requests", "sh. requests", "sh. uses", "", output, 3, less,
     "times that a warp accesses shared memory",
     "loads, stores and atomics of warps in shared memory",
     [](C c) { return number(c.shared_load.requests +
                         c.shared_store.requests + c.shared_atomic.requests); }, &Place::passes, "passes"},
    {"shared_passes", "sh. passes", "", "", output, 3, less,
     "passes over the banks of shared memory", "",
     [](C c) { return number(c.shared_load.transactions +
                         c.shared_store.transactions + c.shared_atomic.transactions); }, &Place::passes},
    {"bank_conflicts", "conflicts", "extra passes", "", output, 3, less,
     "extra passes because of bank conflicts", "passes beyond the first of each request: bank conflicts",
     [](C c) { return number(c.bank_conflicts); }, &Place::conflicts},
    {"shared_atomics", "sh. atomics", "", "", output, 3, less,
     "atomics on shared memory", "",
     [](C c) { return number(c.shared_atomic.accesses); }},
    {"waits", "waits", "", "", output, 3, less,
     "atomics that wait for another lane of their warp", "",
     [](C c) { return number(c.same_address); }},
    // Threads, warps and blocks.
    {"exchanges", "exchanges", "lane swaps", "", output, 3, less,
     "shuffles, votes and similar instructions", "shuffles, votes and similar instructions that warps execute",
     [](C c) { return number(c.exchanges); }, &Place::exchanges},
    {"barriers", "barriers", "syncs", "", block, 0, less,
     "barriers", "barriers that a block reaches",
     [](C c) { return number(c.barriers); }},
    {"barriers_a_block", "barriers a block", "syncs a block", "", nothing, 1, less,
     "barriers in a block", "barriers that a block reaches",
     [](C c) { return ratio(number(c.barriers), number(c.blocks)); }},
    {"basic_blocks", "basic blocks", "", "", output, 3, less,
     "basic blocks (stretches of code without a branch) that warps execute",
     "stretches of code without a branch that warps execute",
     [](C c) { return number(c.basic_blocks); }, &Place::steps},
    {"active_lanes", "lanes", "", "of 32", nothing, 1, more,
     "active lanes of a warp", "active threads of a warp",
     [](C c) { return c.active_lanes(); }},
    {"threads", "threads", "", "", nothing, 0, less,
     "threads", "threads of all launches",
     [](C c) { return number(c.threads); }},
    {"blocks", "blocks", "", "", nothing, 0, less,
     "blocks", "blocks of all launches",
     [](C c) { return number(c.blocks); }},
    {"launches", "launches", "kernels", "", nothing, 0, less,
     "launches", "kernels that are launched",
     [](C c) { return number(c.launches); }},
    // Time, in the terms of scheduling.
    {"work", "steps", "", "", output, 3, less,
     "steps of all warps", "basic blocks, lines and passes of all warps",
     [](C c) { return number(c.work); }, &Place::steps},
    {"span", "chain", "", "", nothing, 0, less,
     "steps of the longest chain (of code and memory, not of additions)",
     "steps of code and memory that must follow one another",
     [](C c) { return number(c.span); }},
    {"makespan", "model time", "model GPU", "", nothing, 0, less,
     "steps until a model GPU of 16 multiprocessors is done", "",
     [](C c) { return number(c.makespan); }},
    {"parallelism", "parallelism", "at once", "warps", nothing, 0, more,
     "parallelism", "parallelism, work over longest chain: warps that could run",
     [](C c) { return c.parallelism(); }},
    {"busiest_share", "busiest", "", "%", nothing, 1, less,
     "percent of the work that the busiest of 16 multiprocessors does",
     "share of the work that the busiest multiprocessor of a model GPU does",
     [](C c) { return 100 * ratio(machine::issued_together * number(c.busiest), number(c.work)); }},
    {"busiest_warp", "busiest warp", "", "", nothing, 2, less,
     "steps of the busiest warp of a block, divided by the mean of its warps",
     "work of the busiest warp of a block, divided by the mean of its warps",
     [](C c) { return ratio(number(c.evened), number(c.work)); }},
    {"threads_a_block", "threads a block", "", "", nothing, 1, more,
     "threads in a block", "",
     [](C c) { return ratio(number(c.threads), number(c.blocks)); }},
    {"intensity", "intensity", "ops a byte", "OP/B", divides, 2, more,
     "operations for each byte loaded", "intensity: operations for each byte that is loaded",
     [](C c) { return number(c.global_load.bytes); }},
    // Memory traffic outside kernels.
    {"bytes_to_host", "to host", "", "B", output, 2, less,
     "bytes copied from the device to the host", "",
     [](C c) { return number(c.bytes_to_host); }},
    {"bytes_to_device", "to device", "", "B", output, 2, less,
     "bytes copied from the host to the device", "",
     [](C c) { return number(c.bytes_to_device); }},
    {"bytes_beside", "beside", "", "B", output, 2, less,
     "bytes moved by cudaMemset and by copies within the device", "",
     [](C c) { return number(c.bytes_beside); }},
    // Measured by a GPU's clock.
    {"milliseconds", "time", "", "ms", nothing, 3, less,
     "time", "of the kernels, on this GPU"},
    {"gigabytes", "useful", "", "GB/s", nothing, 0, more,
     "useful bytes a second", "bytes that the problem has to move, divided by that time"},
    {"teraflops", "arithmetic", "work", "TFLOP/s", nothing, 2, more,
     "operations a second", "arithmetic: operations of the problem, divided by that time"},
    {"of_ceiling", "of ceiling", "", "%", nothing, 1, more,
     "percent of the ceiling", "share of what this GPU can do at best for the problem"},
};
// clang-format on

}  // namespace counters

/// A counter by its key, looked up at compile time.
class Quantity {
  public:
    consteval Quantity(const char* key) : counter_(find(key)) {}

    double operator()(const Counts& counts) const { return counter_->of(counts); }
    const Counter* operator->() const { return counter_; }
    const Counter& operator*() const { return *counter_; }
    bool is_timed() const { return counter_->of == nullptr; }
    bool operator==(const Quantity&) const = default;

  private:
    static constexpr const Counter* find(std::string_view key) {
        for (const Counter& counter : counters::table)
            if (counter.key == key) return &counter;
        throw "there is no such counter";  // not a constant expression: a compile-time error
    }
    const Counter* counter_;
};

/// Returns the counter with a key known only at run time. Throws Error if there is none.
const Counter& counter(std::string_view key);
/// Returns the value that a ladder shows: the total, or divided as the counter's `per` says.
double shown(const Counter&, const Counts&, double outputs, double operations);

}  // namespace kata
