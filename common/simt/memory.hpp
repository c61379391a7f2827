// Device memory.
#pragma once
#include "error.hpp"
#include "simt/image.hpp"
#include "simt/runtime.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
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

// Host code in a process of its own, and kernels in another one, which has all device memory.

/// Thrown in the process of the kernels for a message that no call of CUDA sends.
struct Forged : kata::Error {
    explicit Forged(const std::string& what)
        : Error("the host code of the step has sent what no call of CUDA sends: " + what) {}
};
void leave_host_code_elsewhere();  ///< in the process of kernels
void run_host_code_alone();        ///< in the process of host code

/// The device variable in a copy, if there is one.
enum class Named : unsigned char { none, to, from };
/// The direction of a copy.
enum class Way : unsigned char { within_device, within_host, to_device, to_host };
/// Checks a copy. Carries it out if both ends are in device memory. Otherwise the caller does: with store()
/// for Way::to_device and with load() for to_host, part by part, and by itself for within_host.
Way begin_copy_memory(void* to, const void* from, std::size_t bytes, Room, Named);
/// The parts of a copy to or from device memory. `is_symbol`: that is in a device variable.
void store(void* to, std::span<const std::byte>, bool is_symbol);
std::vector<std::byte> load(const void* from, std::size_t bytes, bool is_symbol);

/// A copy of pages of device memory that host code accesses.
struct CopyForHost {
    std::uintptr_t begin = 0;
    std::vector<std::byte> bytes = {};  // none if the access is to be a crash
    bool writable = false;
};
/// Copies the pages around `address` for an access by `code`. Reports the access unless a GPU allows it.
CopyForHost copy_for_host(const void* address, bool writes, const void* code);
/// Stores what host code has written to such a copy.
void take_from_host(std::uintptr_t begin, std::span<const std::byte>);
/// Calls take_from_host() for each writable copy, and unmaps all copies. Called before device memory is used
/// in another way.
void give_back_copies();

/// Makes device memory accessible while it lives.
class Reachable {
  public:
    Reachable();
    ~Reachable();
    Reachable(const Reachable&) = delete;
    Reachable& operator=(const Reachable&) = delete;
};

}  // namespace simt
