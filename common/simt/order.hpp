// Everything is done when the host asks for it. What a GPU may do in another order, for nothing orders the
// streams that are asked, is told here.
#pragma once
#include "simt/image.hpp"
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
std::size_t tasks_remembered();    ///< for a test

/// Rows of memory, of the device or the host, that a copy reads or writes; mostly one.
struct Reach {
    const void* begin;
    std::size_t bytes;  // of a row
    bool writes;
    std::size_t rows = 1, pitch = 0;
    bool is_symbol = false;  // of a variable of the device, by its name
};
/// A copy, or what else the host calls to change memory. `name` is what it has called. Whether it waits until
/// that is done.
void ask_for_copy(const char* name, unsigned stream, Site, bool waits, const std::vector<Reach>&);
struct Footprint;
/// Whether what the stream is asked for now may be done beside something else, so that what a launch reaches
/// is to be looked at.
bool may_overlap(unsigned stream);
/// A launch, and what it has reached. That is known where the launch is metered; elsewhere nothing is told of
/// it but that its stream takes no turns with the default one.
void ask_for_launch(unsigned stream, Site, Footprint);
/// Memory that has been freed. Whatever lies there from now on is something else.
void forget_memory(Range);
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
