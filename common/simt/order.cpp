#include "simt/order.hpp"

#include "simt/diagnose.hpp"

#include <algorithm>
#include <array>

namespace simt {

namespace {

struct Latest {
    std::uint64_t number = 0;
    std::string name;
};
struct Stream {
    bool blocking = true;
    std::uint64_t asked = 0;
    Before before;                 // its next task, as far as the stream itself says
    std::array<Latest, 2> latest;  // of each kind of task
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

/// The latest task of such a kind, of any stream, that nothing puts before what comes after `before`.
const std::string* beside(const Before& before, Task kind) {
    for (const auto& [stream, state] : streams) {
        const auto& latest = state.latest[static_cast<std::size_t>(kind)];
        const auto done = before.find(stream);
        if (latest.number > (done == before.end() ? 0 : done->second)) return &latest.name;
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

void ask_stream(unsigned stream, Task kind, const char* name, Site site, bool waits) {
    if (!is_observed) return;
    auto before = before_next(stream);
    auto& state = streams[stream];
    const std::string task = name + (site.line == 0 ? "" : " in " + text_of(site));
    const auto other = kind == Task::launch ? Task::copy : Task::launch;
    if (unordered.empty() && !state.blocking && before[default_stream] == 0)
        unordered.push_back("nothing orders " + task +
                            " behind what the caller has asked of the default stream, as for a copy of the "
                            "inputs: its stream was made with cudaStreamNonBlocking; leave that out");
    else if (const auto* at_once = beside(before, other); at_once && unordered.empty())
        unordered.push_back("nothing orders " + task + " and " + *at_once +
                            ": they are in different streams, and a GPU may do the second one first" + joins);
    before[stream] = ++state.asked;
    state.latest[static_cast<std::size_t>(kind)] = {state.asked, task};
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
    for (const auto kind : {Task::launch, Task::copy})
        if (const auto* task = beside(before, kind); task && unordered.empty())
            unordered.push_back("nothing orders " + *task +
                                " before what the caller asks of the default stream next, as for a copy of "
                                "the result: its stream was made with cudaStreamNonBlocking; leave that out, "
                                "or wait for it with cudaStreamSynchronize");
    return std::move(unordered);
}

}  // namespace simt
