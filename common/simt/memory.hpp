// Device memory.
#pragma once
#include "simt/image.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace simt {

/// A buffer in device memory.
struct Allocation {
    Range range;
    std::string name;
    bool written = false;                     // the host has written all of it
    std::uint64_t serial = 0;                 // differs from that of an earlier buffer at the same address
    Range pages;                              // the accessible part of its mapping
    std::string origin = {};                  // the line that called cudaMalloc
    std::vector<Range> written_parts = {};    // parts that the host has written, disjoint, the lowest first
    bool managed = false;                     // allocated by cudaMallocManaged
    std::optional<int> no_bytes_set_to = {};  // the value in a call that set 0 bytes: exchanged arguments?
    // If it repeats: where in the file the period is, and the pages that are copies of it.
    Range period = {0, 0}, copies = {0, 0};
    bool backed = false;  // all of it has memory
};
const std::vector<Allocation>& allocations();  // sorted by address

/// Makes this a judge, which from now on allocates in a file that it shares with the processes of steps.
void share_memory();
/// Returns that file. Only processes that are forked after this call have it in common.
int shared_memory();
/// Makes this the process of a step, whose judge has its buffers in this file.
void share_memory_of_judge(int file);
/// In such a process: maps the judge's buffers at the judge's addresses. Buffers that
/// it had before and that are not among these are gone.
void adopt(const std::vector<Allocation>&);
bool is_of_judge(const Allocation&);

bool is_of_device(const void*);
/// True if the host may access the buffer now: it is managed, and no launch may still use it.
bool is_of_host(const Allocation&);

/// An index or an offset in bytes that has lost its upper bits leads to an address a multiple of 2³² bytes
/// before a large buffer. Returns that place if this is such an address, else nothing.
std::string lost_upper_bits(std::uintptr_t address);
inline constexpr const char* why_upper_bits_are_lost =
    "\n  the usual cause: an int that overflows, such as an offset in bytes that is computed or kept in one, "
    "or an index near the end to which something is added: compute it in size_t";

/// The actions of a step's host code in an observation.
struct HostWork {
    std::uint64_t bytes_to_host = 0, bytes_to_device = 0;  // moved by copies of the runtime
    std::uint64_t bytes_beside = 0;                        // as in kata::Counts
    std::uint64_t unchecked = 0;                           // launches not followed by a check for errors
    std::vector<std::string> findings, kept;               // as in kata::Observation
};
/// Until host_work_ends(), detects accesses of the host to device memory other than by the runtime's
/// functions.
void host_work_begins();
HostWork host_work_ends() noexcept;
void host_launches();
/// True if the host has filled the device variable at this address since host_work_begins().
bool host_has_filled(std::uintptr_t address);

/// Makes device memory accessible while it lives.
class Reachable {
  public:
    Reachable();
    ~Reachable();
    Reachable(const Reachable&) = delete;
    Reachable& operator=(const Reachable&) = delete;
};

}  // namespace simt
