#include "simt/order.hpp"

#include "simt/elsewhere.hpp"
#include "simt/footprint.hpp"
#include "simt/text.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace simt {

namespace {

struct Task {
    std::uint64_t number;
    bool is_copy;
    const char* name;
    Site site;
    Footprint reached;

    std::string text() const { return name + (site.line == 0 ? "" : " in " + text_of(site)); }
};
struct Stream {
    bool blocking = true, destroyed = false;
    std::uint64_t enqueued = 0, last_launch = 0;
    Before before;            // tasks before its next one, as far as the stream itself orders it
    std::vector<Task> tasks;  // those that may still matter, the oldest first
};

unsigned streams_so_far = stream_of_thread + 1;
std::map<unsigned, Stream> streams;
Before before_host;  // tasks that the host has waited for
std::vector<std::string> unordered;
bool is_observed = false;
bool has_caller = true;  // if so, task 1 of the default stream stands for the caller's work

void join(Before& into, const Before& other) {
    for (const auto& [stream, number] : other) into[stream] = std::max(into[stream], number);
}

/// Returns what comes before a task enqueued now.
Before before_next(unsigned stream) {
    Before before = before_host;
    join(before, streams[stream].before);
    if (stream == default_stream)
        for (const auto& [other, state] : streams)
            if (state.blocking) join(before, state.before);
    if (stream != default_stream && streams[stream].blocking) join(before, streams[default_stream].before);
    return before;
}

/// The host has waited for these tasks: everything enqueued from now on comes after them.
void host_waits_for(const Before& before) {
    join(before_host, before);
    for (const auto& [stream, number] : before) {
        auto& tasks = streams[stream].tasks;
        tasks.erase(tasks.begin(), std::find_if(tasks.begin(), tasks.end(),
                                                [last = number](const Task& t) { return t.number > last; }));
    }
}

/// Returns the latest task of some stream that is not in `before` and that matters; null if there is none.
template <class Matters>
const Task* beside(const Before& before, Matters matters) {
    for (const auto& [stream, state] : streams) {
        const auto done = before.find(stream);
        const auto number = done == before.end() ? 0 : done->second;
        for (auto task = state.tasks.rbegin(); task != state.tasks.rend() && task->number > number; ++task)
            if (matters(*task)) return &*task;
    }
    return nullptr;
}

constexpr const char* joins =
    "; let one stream wait for the other with cudaEventRecord and cudaStreamWaitEvent, or leave streams out";

void enqueue(unsigned stream, Task task, bool waits) {
    if (!is_observed) return;
    auto before = before_next(stream);
    auto& state = streams[stream];
    task.number = before[stream] = ++state.enqueued;
    if (unordered.empty()) {
        task.reached.tidy();
        if (has_caller && !state.blocking && before[default_stream] == 0)
            unordered.push_back("nothing orders " + task.text() +
                                " after the caller's work in the default stream, such as a copy of the "
                                "inputs: its stream was created with cudaStreamNonBlocking; leave that out");
        else if (const auto* at_once =
                     beside(before, [&](const Task& other) { return task.reached.clashes(other.reached); }))
            unordered.push_back("nothing orders " + task.text() + " and " + at_once->text() +
                                ", which access the same memory: they are in different streams, and a GPU "
                                "may do the second one first" +
                                joins);
        if (!task.reached.empty() || !state.blocking) state.tasks.push_back(std::move(task));
    }
    state.before = std::move(before);
    if (waits) host_waits_for(state.before);
}

}  // namespace

unsigned new_stream(bool blocking) {
    const auto stream = streams_so_far++;
    streams[stream].blocking = blocking;
    return stream;
}

void end_stream(unsigned stream) { streams[stream].destroyed = true; }
std::size_t streams_remembered() { return streams.size(); }
std::size_t tasks_remembered() {
    std::size_t sum = 0;
    for (const auto& [stream, state] : streams) sum += state.tasks.size();
    return sum;
}

bool may_overlap(unsigned stream) {
    return is_observed && unordered.empty() && (stream != default_stream || streams.size() > 1);
}

void enqueue_copy(const char* name, unsigned stream, Site site, bool waits, Footprint reached) {
    enqueue(stream, {0, true, name, site, std::move(reached)}, waits);
}

void enqueue_launch(unsigned stream, Site site, Footprint reached) {
    enqueue(stream, {0, false, "a launch", site, std::move(reached)}, false);
    streams[stream].last_launch = streams[stream].enqueued;
}
bool may_be_launching() {
    return std::any_of(streams.begin(), streams.end(), [](const auto& stream) {
        const auto done = before_host.find(stream.first);
        return stream.second.last_launch > (done == before_host.end() ? 0 : done->second);
    });
}

void forget_memory(Range gone) {
    for (auto& [stream, state] : streams)
        for (auto& task : state.tasks) task.reached.remove(gone);
}

void wait_for_stream(unsigned stream) {
    if (const auto there = elsewhere<wait_for_stream>) return there(stream);
    host_waits_for(before_next(stream));
}
void wait_for_all_streams() {
    if (const auto there = elsewhere<wait_for_all_streams>) return there();
    Before all;
    for (const auto& [stream, state] : streams) join(all, state.before);
    host_waits_for(all);
}
Before before_event(unsigned stream) { return before_next(stream); }
void let_stream_wait(unsigned stream, const Before& event) { join(streams[stream].before, event); }
void wait_for(const Before& event) { host_waits_for(event); }

void order_begins(bool called) {
    std::erase_if(streams, [](const auto& s) { return s.second.destroyed; });
    for (auto& [stream, state] : streams) {
        const bool blocking = state.blocking;
        state = {};
        state.blocking = blocking;
    }
    before_host.clear();
    unordered.clear();
    if (called) streams[default_stream].before[default_stream] = streams[default_stream].enqueued = 1;
    simt::has_caller = called;
    is_observed = true;
}

std::vector<std::string> order_ends() {
    is_observed = false;
    if (!has_caller) return std::move(unordered);
    const auto before = before_next(default_stream);
    for (const bool copy : {false, true})
        if (const auto* task = beside(before, [&](const Task& asked) { return asked.is_copy == copy; });
            task && unordered.empty())
            unordered.push_back("nothing orders " + task->text() +
                                " before the caller's next work in the default stream, such as a copy of the "
                                "result: its stream was created with cudaStreamNonBlocking; leave that out, "
                                "or wait for it with cudaStreamSynchronize");
    return std::move(unordered);
}

}  // namespace simt
