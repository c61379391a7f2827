// Asynchronous copies into shared memory. A copy is carried out when its thread waits for it, the latest time
// that CUDA allows: a thread that reads too early finds garbage, even without the meter.
#include "buffer.hpp"
#include "simt/probe.hpp"
#include "simt/text.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

namespace simt {

namespace {

/// Completes the running thread's copies for which `has_arrived` is true, and returns their number.
std::size_t land(const auto& has_arrived) {
    return std::erase_if(running->copies.in_flight, [&](const Copy& copy) {
        if (!has_arrived(copy)) return false;
        std::memcpy(copy.to, copy.value.data(), copy.bytes);
        if (auto* const probe = listener()) probe->copy_arrives(copy);
        return true;
    });
}

}  // namespace

void begin_copy(void* to, const void* from, std::size_t bytes, std::size_t zeros, const char* name, Site site,
                const Arrivals* barrier) {
    const auto refuse = [&](const std::string& why) {
        give_up(std::string(name) + " in " + text_of(site) + ": " +
                name_of(running->index, running_block->index) + " " + why);
    };
    if (bytes != 4 && bytes != 8 && bytes != 16)
        refuse("copies " + std::to_string(bytes) + " bytes: it takes 4, 8 or 16");
    if (zeros > bytes)
        refuse("copies " + std::to_string(bytes) + " bytes with " + std::to_string(zeros) +
               " zeros at their end");
    for (const auto* end : {static_cast<const void*>(to), from})
        if (reinterpret_cast<std::uintptr_t>(end) % bytes != 0)
            refuse("copies " + std::to_string(bytes) + " bytes " + (end == to ? "to" : "from") +
                   " an address that is not a multiple of " + std::to_string(bytes));
    const auto* const code = __builtin_return_address(0);
    const auto read = static_cast<unsigned>(bytes - zeros);
    Copy copy{static_cast<std::byte*>(to),
              static_cast<unsigned>(bytes),
              read,
              running->copies.groups,
              code,
              0,
              {},
              barrier};
    if (auto* const probe = listener())
        copy.mark = probe->copy_begins(to, from, copy.bytes, read, name, code);
    std::memcpy(copy.value.data(), from, read);
    std::fill_n(copy.to, bytes, kata::poison);
    running->copies.in_flight.push_back(copy);
}

void commit_copies() { ++running->copies.groups; }

void wait_for_copies(std::size_t groups) {
    const auto arrived = land([groups, committed = running->copies.groups](const Copy& copy) {
        return !copy.barrier && copy.group + groups < committed;
    });
    if (auto* const probe = listener(); probe && arrived > 0) probe->copies_awaited();
}

void land_copies(Block& block, const Arrivals* barrier) {
    auto* const last = running;
    for (auto& thread : block.threads) {
        running = &thread;
        const auto arrived = land([&](const Copy& copy) { return copy.barrier == barrier; });
        if (auto* const probe = listener(); probe && arrived > 0) probe->copies_awaited();
    }
    running = last;
}

}  // namespace simt
