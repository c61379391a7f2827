// Observations and their launches.
#include "buffer.hpp"
#include "error.hpp"
#include "observe.hpp"
#include "simt/elsewhere.hpp"
#include "simt/grid.hpp"
#include "simt/host.hpp"
#include "simt/memory.hpp"
#include "simt/order.hpp"
#include "simt/probe.hpp"
#include "simt/sampling.hpp"
#include "simt/session.hpp"
#include "simt/snapshot.hpp"
#include "simt/text.hpp"
#include "stopwatch.hpp"

#include <memory>
#include <new>
#include <optional>
#include <utility>

namespace simt {

namespace {

/// Emergency reserve, freed on bad_alloc so that the error can still be reported.
std::unique_ptr<std::byte[]> spare_memory;

/// Unlike `kata::poison`: large and positive, both as a float and as an integer.
constexpr std::byte other_garbage{0x7F};

/// Calls run_once(). If this launch or an earlier one leaves out blocks, notes what it changes in the
/// variables, to be restored.
void run_and_note_changes(const Launch& launch, const Range& variables) {
    if (!session->conditions.sample && !session->in_part && !is_run_in_part(launch))
        return run_once(launch, kata::poison);
    const Snapshot before(variables, false);
    try {
        run_once(launch, kata::poison);
    } catch (...) {
        session->changes.add(before);
        throw;
    }
    session->changes.add(before);
}

kata::Launching launching_of(const Launch& launch) {
    const auto& [grid, block] = std::pair(launch.grid, launch.block);
    return {{grid.x, grid.y, grid.z},
            {block.x, block.y, block.z},
            launch.shared_bytes,
            as_written(launch),
            text_of(launch.site)};
}

/// Reports a launch that had no effect. `before` and `after` are hashes of device memory.
void look_for_effect(const Launch& launch, const Probe& probe, std::uint64_t before, std::uint64_t after) {
    constexpr std::size_t enough = 3;
    const auto [earlier, is_new] = session->states.try_emplace(after, session->launches);
    if ((before != after && is_new) || session->idle.size() >= enough || probe.only_cleared()) return;
    const auto which = "the " + ordinal(session->launches) + " launch, " + launch.name + "<<<…>>> in " +
                       text_of(launch.site) + ", ";
    if (before == after)
        session->idle.push_back(which + "changes nothing: device memory holds the same as before it");
    else
        session->idle.push_back(which + "leaves device memory as it was after the " +
                                ordinal(earlier->second) + ": what came in between had no effect");
}

}  // namespace

void run(const Launch& written) {
    if (const auto there = elsewhere<run>) return there(written);
    if (running)
        give_up("a kernel launches a kernel: dynamic parallelism has no meaning on the CPU back end");
    if (!session) throw kata::Error("launch outside of observe()");
    ++session->launches;
    auto launch = written;
    if (session->launched.size() < kata::Observation::launches_named)
        session->launched.push_back(launching_of(launch));
    if (kata::LaunchedAs::current && session->launches <= kata::LaunchedAs::current->size()) {
        const auto& other = (*kata::LaunchedAs::current)[session->launches - 1];
        launch.grid = {other.grid[0], other.grid[1], other.grid[2]};
        launch.block = {other.block[0], other.block[1], other.block[2]};
        launch.shared_bytes = other.shared_bytes;
    }
    host_launches();
    const Reachable now;
    Probe* const probe = listener();
    const auto image = image_of(launch.code);
    // Above this size uninitialized reads are reported without a rehearsal.
    constexpr std::size_t most_bytes = std::size_t{256} << 20;
    const bool may_look =
        probe && !session->conditions.sample && bytes_to_write(image.writable) <= most_bytes;
    std::optional<Snapshot> before;
    if (may_look) before.emplace(image.writable);
    const auto state = may_look ? state_of_memory(image.writable) : 0;
    const auto first_tick = last_tick;
    run_and_note_changes(launch, image.writable);
    enqueue_launch(launch.stream, launch.site, probe ? probe->footprint() : Footprint{});
    if (may_look) look_for_effect(launch, *probe, state, state_of_memory(image.writable));
    if (!probe || !probe->in_doubt()) return;
    bool different = true;
    probe->rehearsal_begins();
    if (before) {
        const Snapshot first(image.writable);
        before->restore();
        last_tick = first_tick;
        try {
            run_once(launch, other_garbage);
            different = !(Snapshot(image.writable) == first);
        } catch (const kata::Error&) {  // a difference, too
        }
        first.restore();
    }
    probe->rehearsal_ends(different);
}

[[noreturn]] void out_of_memory() {
    spare_memory.reset();
    if (running) give_up(kata::out_of_memory);
    throw std::bad_alloc();
}

namespace {

void begin_host_work(bool has_caller) {
    kept_host_memory();
    kept_streams();
    order_begins(has_caller);
    host_work_begins();
}

HostWork end_host_work() noexcept {
    auto work = host_work_ends();
    for (const auto& finding : order_ends()) work.findings.push_back(finding);
    for (const auto& kept : {kept_host_memory(), kept_streams()})
        work.kept.insert(work.kept.end(), kept.begin(), kept.end());
    return work;
}

}  // namespace

}  // namespace simt

namespace kata {

Observation observe(const Conditions& conditions, const std::function<void()>& work) {
    if (observe_elsewhere) return observe_elsewhere(conditions, work);
    if (simt::session) throw Error("observe() inside of observe()");
    simt::Session session{conditions};
    simt::session = &session;
    constexpr std::size_t enough_to_report = 1 << 20;
    if (!simt::spare_memory) simt::spare_memory = std::make_unique<std::byte[]>(enough_to_report);
    struct Reset {
        std::new_handler before = std::set_new_handler(simt::out_of_memory);
        ~Reset() {
            std::set_new_handler(before);
            simt::session = nullptr;
            simt::end_host_work();
        }
    };
    Observation seen;
    simt::Probe* const probe = simt::meter ? simt::meter() : nullptr;
    if (probe) probe->observation_begins(conditions);
    simt::HostWork host;
    {
        const Reset reset;
        simt::begin_host_work(conditions.has_caller);
        try {
            work();
        } catch (Error& e) {
            e.launched = session.launched;
            e.launches = session.launches;
            if (probe && conditions.metered) probe->observation_ends(seen);
            e.findings = std::move(seen.findings);
            throw;
        }
        host = simt::end_host_work();
    }
    seen.launches = session.launches;
    seen.launched = std::move(session.launched);
    seen.one_in = conditions.one_in;
    if (probe && conditions.metered) probe->observation_ends(seen);
    seen.findings.insert(seen.findings.end(), host.findings.begin(), host.findings.end());
    seen.kept = std::move(host.kept);
    seen.unchecked = host.unchecked;
    seen.in_part = session.in_part;
    seen.fragments = session.fragments;
    seen.next = session.next;
    seen.idle = std::move(session.idle);
    seen.spilled = std::move(session.spilled);
    if (seen.counts) {
        seen.counts->bytes_to_host = host.bytes_to_host;
        seen.counts->bytes_to_device = host.bytes_to_device;
        seen.counts->bytes_beside = host.bytes_beside;
    }
    return seen;
}

const char* backend_name() { return "cpu"; }
std::string device_name() { return std::string("CPU back end, limits of ") + simt::architecture; }
std::size_t most_shared_memory() { return simt::limits.shared; }
bool counts_available() { return simt::meter != nullptr; }
bool keeps_time() { return false; }
std::unique_ptr<Stopwatch> stopwatch() { return nullptr; }

}  // namespace kata
