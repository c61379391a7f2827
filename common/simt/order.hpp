// The order of streams. The CPU back end does everything at once, in the order of the program. This part
// finds tasks that a GPU may run in another order, because nothing orders their streams.
#pragma once
#include "simt/runtime.hpp"

#include <cstddef>
#include <cstdint>
#include <iosfwd>  // and not <string>: compiling what that instantiates is a quarter of the time for a step
#include <map>
#include <vector>

namespace simt {

struct Footprint;
struct Range;

/// For each stream, how many of its tasks come before something.
using Before = std::map<unsigned, std::uint64_t>;

inline constexpr unsigned default_stream = 0, stream_of_thread = 1;

/// Returns a new number for a stream. Blocking streams synchronize with the default stream.
unsigned new_stream(bool blocking);
/// The stream has been destroyed. Its tasks go on.
void end_stream(unsigned stream);
std::size_t streams_remembered();  ///< for a test
std::size_t tasks_remembered();    ///< for a test

/// Enqueues a copy, or another call of the host that changes memory. `name` is the function; `waits` is true
/// if it returns only when the copy is done.
void enqueue_copy(const char* name, unsigned stream, Site, bool waits, Footprint);
/// True if a task enqueued now may run beside others, so that the memory a launch accesses must be known.
bool may_overlap(unsigned stream);
/// True if there is a launch that the host has not waited for.
bool may_be_launching();
/// Enqueues a launch with the memory that it accesses. That is empty if the launch is not metered.
void enqueue_launch(unsigned stream, Site, Footprint);
/// The memory has been freed: later accesses there are to something else.
void forget_memory(Range);
void wait_for_stream(unsigned stream);
void wait_for_all_streams();
/// Returns what comes before an event recorded in the stream now.
Before before_event(unsigned stream);
void let_stream_wait(unsigned stream, const Before&);
void wait_for(const Before&);

/// `has_caller` is that of kata::Conditions.
void order_begins(bool has_caller);
/// Returns the first pair of tasks that nothing orders: others mostly follow from it.
std::vector<std::string> order_ends();

}  // namespace simt
