// The functions that kernels call (simt/runtime.hpp), on behalf of the running thread.
#include "error.hpp"
#include "simt/scheduler.hpp"
#include "simt/session.hpp"
#include "simt/text.hpp"
#include "simt/workers.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace simt {

namespace {

/// Notes whether the last atomic has changed memory: a thread whose atomics change it is not waiting.
void watch_updates(Thread& t, const void* address, unsigned bytes, const void* code) {
    if (t.updated) t.changes = std::memcmp(t.updated, t.held, t.updated_bytes) != 0;
    t.updated = address;
    t.updated_in = code;
    t.updated_bytes = std::min<unsigned>(bytes, sizeof t.held);
    std::memcpy(t.held, address, t.updated_bytes);
}

}  // namespace

void Scheduler::before_atomic(const void* address, unsigned bytes, const void* code, AtomicFor whom,
                              bool replaces) {
    poll();
    if (probe_)
        probe_->atomic(address, bytes, code, whom, replaces);  // ends the launch if memory is exhausted
    if (running->polls > polls_per_turn) watch_updates(*running, address, bytes, code);
}

[[noreturn]] void give_up(const std::string& message) { scheduler->stop(message); }
void pause() { scheduler->pause(); }
void poll() { scheduler->poll(); }
std::string which_launch() { return scheduler->which_launch(); }

[[noreturn]] void open() { throw kata::OpenKata{}; }
[[noreturn]] void fail(const char* error, const char* file, int line) {
    throw kata::Error(text_of(Site{file, line}) + ": " + error);
}

int barrier(int predicate, const char* name, Site site) {
    return scheduler->barrier(predicate, name, site, __builtin_return_address(0));
}
std::uint64_t exchange(Collective what, unsigned mask, std::uint64_t value, int source, const char* name,
                       Site site) {
    return scheduler->exchange(what, mask, value, source, name, site, __builtin_return_address(0));
}
std::uint32_t arrive(Arrivals* barrier, unsigned count, const char* name, Site site) {
    return scheduler->arrive(*barrier, count, name, site, __builtin_return_address(0));
}
void await(const Arrivals* barrier, std::uint32_t phase, const char* name, Site site) {
    scheduler->await(*barrier, phase, name, site, __builtin_return_address(0));
}
InToolkit::InToolkit() noexcept { ++running->in_toolkit; }
InToolkit::~InToolkit() { --running->in_toolkit; }
unsigned active_mask(Site site) { return scheduler->active_mask(site, __builtin_return_address(0)); }
AtomicUpdate::AtomicUpdate(const void* address, unsigned bytes, const void* code, AtomicFor whom,
                           bool replaces) noexcept {
    scheduler->before_atomic(address, bytes, code, whom, replaces);
    lock_ = lock_for(address);
}
void swapped() { scheduler->swapped(); }
AtomicUpdate::AtomicUpdate(Store, const void* address, unsigned bytes, const void* code,
                           AtomicFor whom) noexcept {
    scheduler->before_atomic_store(address, bytes, code, whom);
    lock_ = lock_for(address);
}
AtomicUpdate::~AtomicUpdate() { unlock(lock_); }
void before_atomic_load(const void* address, unsigned bytes, const void* code, AtomicFor whom) {
    scheduler->before_atomic_load(address, bytes, code, whom);
}
void before_read_only(const void* address, unsigned bytes) {
    scheduler->before_read_only(address, bytes, __builtin_return_address(0));
}
void no_grid_barrier(Site site) {
    give_up("this_grid().sync() in " + text_of(site) +
            ": blocks wait for each other only in a cooperative launch, which the CPU back end does not "
            "have: end the kernel there, and launch the rest as another one");
}
void fence() { scheduler->fence(); }
void yield() {
    running->polls |= polls_per_turn - 1;  // so that the turn ends
    scheduler->poll();
}
long long ticks() {
    scheduler->clock_goes_on();
    scheduler->poll();
    return last_tick += 32;
}
void trap(Site site) {
    give_up("__trap() in " + text_of(site) + ": " + name_of(running->index, running_block->index) +
            " ends the launch");
}
int lane() { return static_cast<int>(running->lane()); }
unsigned partners() { return running->partners; }

}  // namespace simt

// glibc's assert() ends here; in a kernel it ends the launch instead of the process.
extern "C" void __assert_fail(const char* what, const char* file, unsigned line, const char*) noexcept {
    if (simt::running)
        simt::give_up("assertion failed: " + std::string(what) + " in " +
                      simt::text_of({file, static_cast<int>(line)}) + ", " +
                      simt::name_of(simt::running->index, simt::running_block->index));
    std::fprintf(stderr, "%s:%u: assertion failed: %s\n", file, line, what);
    std::abort();
}
