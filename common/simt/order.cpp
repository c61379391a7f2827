#include "simt/order.hpp"

#include "simt/diagnose.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace simt {

namespace {

struct Asked {
    std::uint64_t number;
    Task kind;
    std::string name;
    std::vector<Reach> reaches;
};
struct Stream {
    bool blocking = true, destroyed = false;
    std::uint64_t asked = 0;
    Before before;             // its next task, as far as the stream itself says
    std::vector<Asked> tasks;  // in order
};

unsigned streams_so_far = stream_of_thread + 1;
std::map<unsigned, Stream> streams;
Before before_host;  // what the host has waited for
std::vector<std::string> unordered;
bool is_observed = false;

void join(Before& into, const Before& other) {
    for (const auto& [stream, number] : other) into[stream] = std::max(into[stream], number);
}

/// What comes before a task that the stream is asked for now.
Before before_next(unsigned stream) {
    Before before = before_host;
    join(before, streams[stream].before);
    if (stream == default_stream)
        for (const auto& [other, state] : streams)
            if (state.blocking) join(before, state.before);
    if (stream != default_stream && streams[stream].blocking) join(before, streams[default_stream].before);
    return before;
}

bool clash(const Reach& a, const Reach& b) {
    const auto begins = [](const Reach& r) { return reinterpret_cast<std::uintptr_t>(r.begin); };
    return (a.writes || b.writes) && begins(a) < begins(b) + b.bytes && begins(b) < begins(a) + a.bytes;
}

/// Whether it matters which of the two comes first. Two launches may well share an array, each a part of it.
bool clash(const Asked& a, const Asked& b) {
    if (a.kind != Task::copy && b.kind != Task::copy) return false;
    if (a.kind == Task::launch_of_anything || b.kind == Task::launch_of_anything) return true;
    const auto is_symbol = [](const Reach& r) { return r.is_symbol; };
    if (a.kind != b.kind && (std::any_of(a.reaches.begin(), a.reaches.end(), is_symbol) ||
                             std::any_of(b.reaches.begin(), b.reaches.end(), is_symbol)))
        return true;
    return std::any_of(a.reaches.begin(), a.reaches.end(), [&](const Reach& one) {
        return std::any_of(b.reaches.begin(), b.reaches.end(),
                           [&](const Reach& other) { return clash(one, other); });
    });
}

/// The latest task of some stream that nothing puts before what comes after `before`, and that matters.
template <class Matters>
const std::string* beside(const Before& before, Matters matters) {
    for (const auto& [stream, state] : streams) {
        const auto done = before.find(stream);
        const auto number = done == before.end() ? 0 : done->second;
        for (auto task = state.tasks.rbegin(); task != state.tasks.rend() && task->number > number; ++task)
            if (matters(*task)) return &task->name;
    }
    return nullptr;
}

constexpr const char* joins =
    "; let one stream wait for the other with cudaEventRecord and cudaStreamWaitEvent, or leave streams out";

}  // namespace

unsigned new_stream(bool blocking) {
    const auto stream = streams_so_far++;
    streams[stream].blocking = blocking;
    return stream;
}

void end_stream(unsigned stream) { streams[stream].destroyed = true; }
std::size_t streams_remembered() { return streams.size(); }

void ask_stream(unsigned stream, Task kind, const char* name, Site site, bool waits,
                std::vector<Reach> reaches) {
    if (!is_observed) return;
    auto before = before_next(stream);
    auto& state = streams[stream];
    Asked task{state.asked + 1, kind, name + (site.line == 0 ? "" : " in " + text_of(site)),
               std::move(reaches)};
    if (unordered.empty() && !state.blocking && before[default_stream] == 0)
        unordered.push_back("nothing orders " + task.name +
                            " behind what the caller has asked of the default stream, as for a copy of the "
                            "inputs: its stream was made with cudaStreamNonBlocking; leave that out");
    else if (const auto* at_once = beside(before, [&](const Asked& other) { return clash(task, other); });
             at_once && unordered.empty())
        unordered.push_back("nothing orders " + task.name + " and " + *at_once +
                            ": they are in different streams, and a GPU may do the second one first" + joins);
    before[stream] = ++state.asked;
    state.tasks.push_back(std::move(task));
    state.before = std::move(before);
    if (waits) join(before_host, state.before);
}

void wait_for_stream(unsigned stream) { join(before_host, before_next(stream)); }
void wait_for_all_streams() {
    for (const auto& [stream, state] : streams) join(before_host, state.before);
}
Before before_event(unsigned stream) { return before_next(stream); }
void let_stream_wait(unsigned stream, const Before& event) { join(streams[stream].before, event); }
void wait_for(const Before& event) { join(before_host, event); }

void order_begins() {
    std::erase_if(streams, [](const auto& s) { return s.second.destroyed; });
    for (auto& [stream, state] : streams) {
        const bool blocking = state.blocking;
        state = {};
        state.blocking = blocking;
    }
    before_host.clear();
    unordered.clear();
    streams[default_stream].asked = 1;  // the caller's work
    streams[default_stream].before[default_stream] = 1;
    is_observed = true;
}

std::vector<std::string> order_ends() {
    is_observed = false;
    const auto before = before_next(default_stream);
    for (const bool copy : {false, true})
        if (const auto* task =
                beside(before, [&](const Asked& asked) { return (asked.kind == Task::copy) == copy; });
            task && unordered.empty())
            unordered.push_back("nothing orders " + *task +
                                " before what the caller asks of the default stream next, as for a copy of "
                                "the result: its stream was made with cudaStreamNonBlocking; leave that out, "
                                "or wait for it with cudaStreamSynchronize");
    return std::move(unordered);
}

}  // namespace simt
