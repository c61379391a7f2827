// The interface by which the meter observes launches.
#pragma once
#include "simt/block.hpp"
#include "simt/footprint.hpp"
#include "simt/grid.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace simt {

/// Listens to launches. Everything is called on the scheduler's side unless said otherwise.
class Probe {
  public:
    virtual ~Probe() = default;
    virtual void observation_begins(const kata::Conditions&) = 0;
    virtual void observation_ends(kata::Observation&) = 0;
    virtual void launch_begins(const Grid&) = 0;
    virtual void launch_ends() = 0;
    virtual void block_begins(const Block&) = 0;
    virtual void block_ends(const Block&) = 0;
    /// Every thread of the block has passed a barrier.
    virtual void barrier(const Block&) = 0;
    /// The lanes in `mask` see what any of them did before.
    virtual void warp_synchronised(const Block&, unsigned warp, unsigned mask) = 0;
    /// Called before each further block of a sample; true once the watcher needs no more.
    virtual bool has_enough() = 0;
    /// Called when the sample is complete; true if the watcher also wants the first and the last block.
    virtual bool sample_ends() = 0;
    /// The warp's lanes have run as far as they can for now.
    virtual void warp_stops(const Block&, unsigned warp) = 0;
    /// Returns false if the warp of this thread must be accounted for before the thread can be resumed. If
    /// true, it is resumed next.
    virtual bool takes_turn(const Thread&) = 0;

    // Called on the thread's side.

    /// The thread has reached a barrier or a collective, called from `code`.
    virtual void synchronising(const void* code) = 0;
    virtual void fence(const Block&, const Thread&) = 0;
    virtual void atomic(const void* address, unsigned bytes, const void* code, AtomicFor, bool replaces) = 0;
    /// These lanes of a warp have exchanged values, by a call from `code`.
    virtual void exchanged(const Block&, unsigned warp, unsigned lanes, const void* code) = 0;
    /// A shuffle, called from `code`, has had an undefined result, as `text` says.
    virtual void undefined(const void* code, const std::function<std::string()>& text) = 0;
    /// A compare-and-swap has stored its value.
    virtual void swapped() = 0;
    virtual void atomic_load(const void* address, unsigned bytes, const void* code, AtomicFor) = 0;
    virtual void atomic_store(const void* address, unsigned bytes, const void* code, AtomicFor) = 0;
    /// The thread reads through the read-only cache.
    virtual void read_only(const void* address, unsigned bytes, const void* code) = 0;
    /// The thread begins a copy into shared memory, of which it reads `read` bytes. The result becomes the
    /// copy's `mark`.
    virtual std::uint64_t copy_begins(const void* to, const void* from, unsigned bytes, unsigned read,
                                      const char* name, const void* code) = 0;
    /// The thread has waited for this copy.
    virtual void copy_arrives(const Copy&) = 0;
    /// The thread has waited for copies in flight.
    virtual void copies_awaited() = 0;

    /// Returns the line of the step that an instruction comes from: "x.cu:12".
    virtual std::string line(const void* code) const = 0;
    /// Returns ", called in x.cu:12" for the return address of a call in a helper, else nothing.
    virtual std::string callers(const void* code) const = 0;
    /// Returns the line that the thread executed last, "x.cu:12"; nothing if unknown.
    virtual std::string last_line(const Block&, const Thread&) const = 0;
    /// Returns the names of the running kernel's parameters; nothing if unknown.
    virtual std::vector<std::string> parameters() const = 0;

    /// Returns, once, the memory that the last launch accessed if it may overlap with something
    /// (simt/order.hpp); else nothing.
    virtual Footprint footprint() = 0;
    /// Returns the basic blocks and accesses of the launch's threads: the same number on any machine.
    virtual std::uint64_t steps() const = 0;
    /// Returns a number that changes as long as threads change memory or poll another place than just before.
    virtual std::uint64_t news() const = 0;
    /// True if this launch has read uninitialized shared memory or undefined results. It is then run once
    /// more over the same memory with other garbage, and reported only if that makes a difference.
    virtual bool in_doubt() const = 0;
    /// True if this launch has stored something and all of it is zero now.
    virtual bool only_cleared() const = 0;
    virtual void rehearsal_begins() = 0;
    virtual void rehearsal_ends(bool different) = 0;
    /// Outside kernels: an instruction of the host accesses device memory.
    virtual void host_reaches(const void* address, bool writes, const void* code) = 0;
};

/// The probe of builds whose kernels are instrumented; null elsewhere.
[[gnu::weak]] Probe* meter();
/// Returns meter() if the current observation is metered, else null.
Probe* listener();

}  // namespace simt
