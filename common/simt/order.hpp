// Everything is done when the host asks for it. What a GPU may do in another order, for nothing orders the
// streams that are asked, is told here.
#pragma once
#include "simt/runtime.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace simt {

/// Of each stream, how many of its tasks come before something.
using Before = std::map<unsigned, std::uint64_t>;

inline constexpr unsigned default_stream = 0, stream_of_thread = 1;

/// A number for a stream, which no other one has had. Blocking ones take turns with the default stream.
unsigned new_stream(bool blocking);
/// It has been destroyed. What it has been asked for goes on.
void end_stream(unsigned stream);
std::size_t streams_remembered();  ///< for a test

/// Memory of the device that a task reads or writes.
struct Reach {
    const void* begin;
    std::size_t bytes;
    bool writes;
    bool is_symbol = false;  // which a kernel names, so that no argument says so
};
/// Of a launch is known where its pointers lead, and not how far; one with arguments that may have pointers
/// in them may reach anything.
enum class Task { launch, launch_of_anything, copy };
/// `name` is what the host has called, as "a launch". Whether the host waits until it is done.
void ask_stream(unsigned stream, Task, const char* name, Site, bool waits, std::vector<Reach>);
void wait_for_stream(unsigned stream);
void wait_for_all_streams();
/// What comes before an event that is recorded in the stream now.
Before before_event(unsigned stream);
void let_stream_wait(unsigned stream, const Before&);
void wait_for(const Before&);

void order_begins();
/// What nothing has ordered: the first of it, for the rest mostly follows from it.
std::vector<std::string> order_ends();

}  // namespace simt
