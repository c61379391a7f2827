// Device memory on the CPU back end: exact sizes, 256-byte alignment as on a GPU, a canary on either side.
#include "simt/memory.hpp"

#include "buffer.hpp"
#include "error.hpp"
#include "file_in_memory.hpp"
#include "simt/block.hpp"
#include "simt/constructors.hpp"
#include "simt/elsewhere.hpp"
#include "simt/order.hpp"
#include "simt/probe.hpp"
#include "simt/text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <iterator>
#include <sys/mman.h>
#include <system_error>
#include <ucontext.h>
#include <unistd.h>
#include <utility>

namespace simt {

namespace {

constexpr std::size_t canary_bytes = 256;
// Unused memory on either side of a buffer: an access that misses the buffer by a few rows neither hits
// another buffer, which would hide it, nor ends the process.
constexpr std::size_t gap_bytes = 1 << 20;
constexpr std::byte canary{0xC5};
constexpr std::string_view system_libraries[]{"/libc.so", "/libstdc++.so", "/libm.so", "/libgcc_s.so",
                                              "/ld-linux"};
// The name of such allocations of a step.
constexpr const char* cuda_host_alloc = "cudaHostAlloc";

std::vector<Allocation>& table() {
    static std::vector<Allocation> table;
    return table;
}

Allocation* find(const void* pointer) {
    const auto a = reinterpret_cast<std::uintptr_t>(pointer);
    for (auto& allocation : table())
        if (allocation.range.begin == a) return &allocation;
    return nullptr;
}

/// Returns the buffer whose mapping contains the address.
Allocation* around(const void* pointer) {
    const auto a = reinterpret_cast<std::uintptr_t>(pointer);
    for (auto& allocation : table())
        if (allocation.pages.contains(a)) return &allocation;
    return nullptr;
}

bool in_observation = false;
unsigned reachable = 0;  // Reachable objects alive
HostWork host_work;
std::uint64_t serial = 0, serial_before = 0;  // the last serial used, now and before the observation

// The judge's buffers have addresses at which no system places anything else, so that every process has room
// for them there, and the offset of an address in the file is that from the first. Each lies below the one
// before, as mmap() places them: an index that has overflowed leads to the same buffer in either case.
constexpr std::uintptr_t first_shared = std::uintptr_t{1} << 45, end_shared = std::uintptr_t{1} << 46;
bool is_judge = false;
int shared_file = -1, file_of_judge = -1;                        // in a judge, and in the process of a step
std::uintptr_t last_shared = end_shared;                         // the addresses below this are free
constexpr std::uint64_t first_of_step = std::uint64_t{1} << 63;  // the serials below this are the judge's

/// Maps pages that have memory, or are about to have it, at once instead of one by one.
void populate([[maybe_unused]] const Range& pages) {
#if defined(MADV_POPULATE_WRITE)
    madvise(reinterpret_cast<void*>(pages.begin), pages.size(), MADV_POPULATE_WRITE);
#endif
}

/// Maps a part of the file that the judge and its steps share. Returns MAP_FAILED if that fails.
void* map_shared(int file, std::uintptr_t begin, std::size_t bytes) {
    return mmap(reinterpret_cast<void*>(begin), bytes, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, static_cast<off_t>(begin - first_shared));
}

// In the process of kernels, if host code has one of its own, and in the latter. There, no device memory is
// mapped but copies of pages that host code accesses.
bool host_is_elsewhere = false, kernels_are_elsewhere = false;
constexpr std::uintptr_t first_of_step_memory = std::uintptr_t{17} << 40;  // up to the judge's
bool open_to_host = false;  // until the next use of device memory: an access has been reported, and continues
struct Copied {
    Range pages;
    bool writable;
};
std::vector<Copied> copied;  // by the process of host code, or for it

void protect(const Range& pages, int how) {
    if (host_is_elsewhere) return;
    mprotect(reinterpret_cast<void*>(pages.begin), pages.size(), how);
}
void protect_all(int how) {
    for (const auto& a : table()) protect(a.pages, how);
}

/// Maps memory of this process: if host code has another one, in the highest free place below the judge's
/// buffers. Returns MAP_FAILED if that fails.
void* map_own(std::size_t bytes) {
    auto end = first_shared;
    for (auto a = table().rbegin(); a != table().rend(); ++a) {
        const Range taken{a->pages.begin - gap_bytes, a->pages.end + gap_bytes};
        if (!host_is_elsewhere || taken.begin >= first_shared) continue;
        if (end - taken.end >= bytes) break;
        end = taken.begin;
    }
    if (end - first_of_step_memory < bytes) return MAP_FAILED;
    return mmap(host_is_elsewhere ? reinterpret_cast<void*>(end - bytes) : nullptr, bytes,
                PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (host_is_elsewhere ? MAP_FIXED : 0), -1, 0);
}

/// True if the code is the step's own, neither this program's nor a system library's.
bool is_of_step(const void* code) {
    Dl_info info{}, own{};
    if (!dladdr(code, &info) || !info.dli_fname || !dladdr(reinterpret_cast<void*>(&host_work_begins), &own))
        return false;
    const std::string_view path = info.dli_fname;
    return info.dli_fbase != own.dli_fbase &&
           std::none_of(std::begin(system_libraries), std::end(system_libraries),
                        [&](auto name) { return path.find(name) != std::string_view::npos; });
}

/// True for a buffer that the step has not allocated.
bool is_of_caller(const Allocation& a) {
    return a.name != "cudaMalloc" && a.name != "cudaMallocManaged" && a.name != cuda_host_alloc;
}

/// Describes an access of a kernel that is not metered: its thread, and how far it is off which buffer.
std::string far_off(std::uintptr_t address, const char* does, const void* code) {
    const Allocation* nearest = nullptr;
    std::uintptr_t least = ~std::uintptr_t{0};
    for (const auto& a : table()) {
        const auto distance = address < a.range.begin ? a.range.begin - address : address - a.range.end;
        if (distance < least) least = distance, nearest = &a;
    }
    constexpr std::uintptr_t near = 1 << 24;
    auto where = lost_upper_bits(address);
    const bool lost = !where.empty();
    if (!lost && nearest && least < near)
        where = std::to_string(least) + " bytes " +
                (address < nearest->range.begin ? "before the start of \"" : "past the end of \"") +
                nearest->name + "\" (" + std::to_string(nearest->range.size()) + " bytes)";
    std::string text = "out of bounds: " + name_of(running->index, running_block->index) + does +
                       (where.empty() ? "that is not device memory" : where);
    if (meter && code && is_of_step(code)) text += ", in " + meter()->line(code);
    return lost ? text + why_upper_bits_are_lost : text;
}

/// Lets the host access a page of managed memory until the next launch. Without `reads`, it may have been
/// written.
void move_to_host(const void* address, bool reads) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(address) / page * page;
    protect({begin, begin + page}, reads ? PROT_READ : PROT_READ | PROT_WRITE);
    (reads ? host_work.bytes_to_host : host_work.bytes_to_device) += page;
}

struct sigaction before_handler {};

void report_host(const Allocation& entry, const void* address, bool writes, const void* code) {
    protect_all(PROT_READ | PROT_WRITE);
    open_to_host = true;
    if (Probe* const probe = listener(); probe && code)
        probe->host_reaches(address, writes, code);
    else
        host_work.findings.push_back("the host " + std::string(writes ? "writes to" : "reads") + " \"" +
                                     entry.name + "\", which is " +
                                     (entry.managed ? "managed memory that a launch may still use: call "
                                                      "cudaDeviceSynchronize() first"
                                                    : "device memory: on a GPU the program ends there"));
}

/// Reports an access of the host to memory that it cannot access on a GPU, and lets it continue. Ends a
/// launch.
void handle_fault(int signal, siginfo_t* info, void* context) {
    const auto* entry = in_observation && reachable == 0 ? around(info->si_addr) : nullptr;
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    const bool asks = kernels_are_elsewhere && address >= first_of_step_memory && address < end_shared;
    if (!entry && !running && !asks) {  // not ours to handle
        sigaction(signal, &before_handler, nullptr);
        return;
    }
#if defined(__x86_64__)
    const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const bool writes = registers[REG_ERR] & 2;
    const void* code = reinterpret_cast<const char*>(registers[REG_RIP]) + 1;
#else
    const bool writes = false;
    const void* code = nullptr;
#endif
    if (entry && is_of_host(*entry)) return move_to_host(info->si_addr, code && !writes);
    const bool nothing_is_known = info->si_code == SI_KERNEL;  // the address is not canonical
    if (running)
        give_up(far_off(address,
                        nothing_is_known ? " reaches memory "
                        : writes         ? " writes to memory "
                                         : " reads memory ",
                        code));
    std::array<void*, 64> frames;
    const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
    if (!code || !is_of_step(code)) {
        const auto* const found = std::find_if(frames.data(), frames.data() + count, is_of_step);
        code = found == frames.data() + count ? nullptr : *found;
    }
    if (!asks) return report_host(*entry, info->si_addr, writes, code);
    const auto copy = copy_for_host(info->si_addr, !code || writes, code);
    auto* const place = reinterpret_cast<void*>(copy.begin);
    if (copy.bytes.empty() || mmap(place, copy.bytes.size(), PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
        sigaction(signal, &before_handler, nullptr);
        return;
    }
    std::memcpy(place, copy.bytes.data(), copy.bytes.size());
    const Range pages{copy.begin, copy.begin + copy.bytes.size()};
    if (!copy.writable) protect(pages, PROT_READ);
    std::erase_if(copied, [&](const Copied& c) { return pages.contains(c.pages.begin); });
    copied.push_back({pages, copy.writable});
}

/// Device variables whose address the host has requested.
std::vector<Range>& symbols() {
    static std::vector<Range> symbols;
    return symbols;
}

const Range* symbol_at(const void* pointer) {
    for (const auto& symbol : symbols())
        if (symbol.contains(reinterpret_cast<std::uintptr_t>(pointer))) return &symbol;
    return nullptr;
}

/// The device variables that the host has filled since its work began.
std::vector<Range>& filled() {
    static std::vector<Range> filled;
    return filled;
}
void fill_symbol(const void* symbol, std::size_t bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(symbol);
    filled().push_back({begin, begin + bytes});
}

void insert(Allocation entry) {
    auto& all = table();
    all.insert(std::upper_bound(all.begin(), all.end(), entry,
                                [](const auto& a, const auto& b) { return a.range.begin < b.range.begin; }),
               std::move(entry));
}

Range with_gaps(const Allocation& a) { return {a.pages.begin - gap_bytes, a.pages.end + gap_bytes}; }
void unmap(const Allocation& a) { munmap(reinterpret_cast<void*>(with_gaps(a).begin), with_gaps(a).size()); }

/// Maps copies of the period in the file, which need memory only once they are written.
bool map_copies(const Allocation& a, int file) {
    for (auto at = a.copies.begin; at < a.copies.end; at += a.period.size())
        if (mmap(reinterpret_cast<void*>(at), std::min<std::size_t>(a.period.size(), a.copies.end - at),
                 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file,
                 static_cast<off_t>(a.period.begin)) == MAP_FAILED)
            return false;
    return true;
}

/// Gives the memory of a part of the judge's file back. It is zero when it is next used.
void give_back([[maybe_unused]] const Range& of_file) {
#if defined(__linux__)
    if (shared_file != -1 && of_file.size() > 0)
        fallocate(shared_file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(of_file.begin),
                  static_cast<off_t>(of_file.size()));
#endif
}

/// Notes that the host has written a part of a buffer.
void write_part(Allocation& a, Range part) {
    auto& parts = a.written_parts;
    const auto first =
        std::find_if(parts.begin(), parts.end(), [&](const Range& r) { return r.end >= part.begin; });
    auto last = first;
    for (; last != parts.end() && last->begin <= part.end; ++last)
        part = {std::min(part.begin, last->begin), std::max(part.end, last->end)};
    parts.insert(parts.erase(first, last), part);
    a.written = part.begin == a.range.begin && part.end == a.range.end;
}

/// Throws kata::Error for an access beyond a buffer, and notes what the host writes.
void host_reaches(const void* pointer, std::size_t bytes, bool writes) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    auto* const a = around(pointer);
    if (const auto* const symbol = a ? nullptr : symbol_at(pointer))
        check_symbol(symbol->size(), address - symbol->begin, bytes);
    if (!a || bytes == 0) return;
    const auto whole = std::to_string(a->range.size());
    if (!writes && address == a->range.begin && bytes > a->range.size())
        throw kata::Error("copy refused: " + std::to_string(bytes) + " bytes are more than the source \"" +
                          a->name + "\" has: " + whole);
    if (address < a->range.begin || address > a->range.end || bytes > a->range.end - address)
        throw kata::Error("copy refused: " + std::to_string(bytes) + " bytes at offset " +
                          std::to_string(static_cast<std::ptrdiff_t>(address - a->range.begin)) +
                          (writes ? " do not fit into \"" : " are not all in \"") + a->name + "\" of " +
                          whole + " bytes");
    if (writes && !a->written) write_part(*a, {address, address + bytes});
}

}  // namespace

const std::vector<Allocation>& allocations() { return table(); }

void share_memory() { is_judge = true; }

int shared_memory() {
    if (!is_judge || shared_file != -1) return shared_file;
    const int file = kata::file_in_memory();
    const auto before = std::signal(SIGXFSZ, SIG_IGN);  // a limit on files is an error like others
    const bool sized = file != -1 && ftruncate(file, static_cast<off_t>(end_shared - first_shared)) == 0;
    std::signal(SIGXFSZ, before);
    if (!sized)
        throw kata::Error("no memory can be shared with the step's process: " +
                          std::system_category().message(errno));
    return shared_file = file;
}

void share_memory_of_judge(int file) {
    is_judge = false;  // if it was forked by one
    shared_file = -1;
    file_of_judge = file;
    serial = first_of_step;
}

bool is_of_judge(const Allocation& a) { return file_of_judge != -1 && a.serial < first_of_step; }

void adopt(const std::vector<Allocation>& buffers) {
    std::erase_if(table(), [&](const Allocation& a) {
        const bool gone = is_of_judge(a) && std::none_of(buffers.begin(), buffers.end(),
                                                         [&](const auto& b) { return b.serial == a.serial; });
        if (gone) unmap(a);
        return gone;
    });
    for (const auto& buffer : buffers) {
        if (auto* const known = find(reinterpret_cast<void*>(buffer.range.begin))) {
            // The host code of the step may have written other parts.
            for (const auto& part : buffer.written ? std::vector{buffer.range} : buffer.written_parts)
                if (!known->written) write_part(*known, part);
            continue;
        }
        const auto whole = with_gaps(buffer);
        if (map_shared(file_of_judge, whole.begin, whole.size()) == MAP_FAILED ||
            !map_copies(buffer, file_of_judge))
            throw kata::Error("no room for the buffer \"" + buffer.name + "\"");
        if (buffer.backed) populate(buffer.pages);
        if (in_observation && reachable == 0) protect(buffer.pages, PROT_NONE);
        insert(buffer);
    }
}

bool is_of_host(const Allocation& a) { return a.managed && !may_be_launching(); }
bool is_of_device(const void* pointer) { return around(pointer) || symbol_at(pointer); }

std::string lost_upper_bits(std::uintptr_t address) {
    constexpr std::uint64_t an_int = std::uint64_t{1} << 31, lost = std::uint64_t{1} << 32, beside = 4096;
    for (const auto off : {lost, 2 * lost, 4 * lost, 8 * lost})  // bytes; elements of two, four and eight
        for (const auto& a : table())
            if (a.range.size() > an_int && a.range.contains(address + off) &&
                address + beside < a.range.begin)
                return std::to_string(a.range.begin - address) + " bytes before the start of \"" + a.name +
                       "\" (" + std::to_string(a.range.size()) + " bytes)";
    return "";
}

Reachable::Reachable() {
    if (in_observation && reachable == 0) protect_all(PROT_READ | PROT_WRITE);
    ++reachable;
}
Reachable::~Reachable() {
    if (--reachable > 0 || !in_observation) return;
    protect_all(PROT_NONE);
    open_to_host = false;
    copied.clear();
}

namespace {

void handle_faults() {
    void* first = nullptr;
    backtrace(&first, 1);  // loads a library, which a signal handler must not
    struct sigaction action {};
    action.sa_sigaction = handle_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, &before_handler);
}

/// Throws Forged if host code in another process names as a device variable what is none of the module.
void require_variable(const void* begin, std::size_t bytes) {
    if (!host_is_elsewhere) return;
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    const auto found = variable_at(image_of(declarations().code), address);
    if (!found || address - found->range.begin > found->range.size() || bytes > found->range.end - address)
        throw Forged("a device variable that the step does not have");
}

/// Does the same for a copy as host_reaches(). Returns true if the memory is that of the device.
bool reach(const void* begin, std::size_t bytes, bool writes, bool is_symbol) {
    if (is_symbol)
        require_variable(begin, bytes);
    else
        host_reaches(begin, bytes, writes);
    if (writes && (is_symbol || symbol_at(begin))) fill_symbol(begin, bytes);
    return is_symbol || is_of_device(begin);
}

}  // namespace

void leave_host_code_elsewhere() { host_is_elsewhere = true; }
void run_host_code_alone() {
    kernels_are_elsewhere = true;
    handle_faults();
}

CopyForHost copy_for_host(const void* address, bool writes, const void* code) {
    if (const auto there = elsewhere<copy_for_host>) return there(address, writes, code);
    const auto* const entry = around(address);
    if (!entry) return {};
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(address) / page * page;
    Range pages{begin, begin + page};
    const bool seen = in_observation && !open_to_host;
    if (seen && is_of_host(*entry)) {
        (writes ? host_work.bytes_to_device : host_work.bytes_to_host) += page;
    } else {
        constexpr std::size_t most = 64 << 20;
        if (seen) report_host(*entry, address, writes, code);
        pages = {entry->pages.size() > most ? begin : entry->pages.begin, entry->pages.end};
        pages.end = std::min(pages.end, pages.begin + most);
        writes = true;
    }
    if (writes) copied.push_back({pages, true});
    const auto* const from = reinterpret_cast<const std::byte*>(pages.begin);
    return {pages.begin, {from, from + pages.size()}, writes};
}
void take_from_host(std::uintptr_t begin, std::span<const std::byte> bytes) {
    if (const auto there = elsewhere<take_from_host>) return there(begin, bytes);
    const auto expected = std::find_if(copied.begin(), copied.end(), [&](const Copied& c) {
        return c.pages.begin == begin && c.pages.size() == bytes.size();
    });
    if (expected == copied.end() || !around(reinterpret_cast<void*>(begin)))
        throw Forged("pages of device memory that it does not have");
    copied.erase(expected);
    std::memcpy(reinterpret_cast<void*>(begin), bytes.data(), bytes.size());
}
void give_back_copies() {
    for (const auto& [pages, writable] : std::exchange(copied, {})) {
        auto* const at = reinterpret_cast<std::byte*>(pages.begin);
        if (writable) take_from_host(pages.begin, {at, pages.size()});
        munmap(at, pages.size());
    }
}

void host_work_begins() {
    host_work = {};
    filled().clear();
    serial_before = serial;
    in_observation = true;
    reachable = 0;
    handle_faults();
    protect_all(PROT_NONE);
}

HostWork host_work_ends() noexcept {
    in_observation = false;
    protect_all(PROT_READ | PROT_WRITE);
    sigaction(SIGSEGV, &before_handler, nullptr);
    for (const auto& a : table())
        if (!is_of_caller(a) && a.serial > serial_before)
            host_work.kept.push_back("never freed: " + std::to_string(a.range.size()) + " bytes that " +
                                     a.name + " has allocated in " + a.origin + ": free them with " +
                                     (a.name == cuda_host_alloc ? "cudaFreeHost" : "cudaFree"));
    return std::move(host_work);
}

void* device_alloc(std::size_t bytes, Site site, const char* function) {
    if (const auto there = elsewhere<device_alloc>) return there(bytes, site, function);
    auto* const data = kata::device::allocate(bytes, function, kata::poison);
    auto* const entry = find(data);
    entry->origin = text_of(site);
    entry->managed = entry->written = entry->name != "cudaMalloc";  // the host writes to it unseen
    return data;
}
void device_free(void* pointer) {
    if (const auto there = elsewhere<device_free>) return there(pointer);
    const auto* entry = pointer ? find(pointer) : nullptr;
    if (pointer && !entry)
        throw kata::Error(
            "cudaFree refused: that is not a pointer from cudaMalloc, or has been freed already");
    if (entry && is_of_caller(*entry))
        throw kata::Error("cudaFree refused: \"" + entry->name + "\" belongs to the caller of the step");
    if (entry) forget_memory(entry->range);
    kata::device::release(pointer);
}

void launches_are_checked() {
    if (const auto there = elsewhere<launches_are_checked>) return there();
    host_work.unchecked = 0;
}
void host_launches() { ++host_work.unchecked; }

void check_side(const char* function, const char* direction, const void* address, std::size_t bytes,
                bool of_device) {
    if (const auto there = elsewhere<check_side>)
        return there(function, direction, address, bytes, of_device);
    const auto* const buffer = around(address);
    if (bytes == 0 || is_of_device(address) == of_device || (buffer && buffer->managed)) return;
    // In host code the name of a symbol is that of a host variable.
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const auto variable = of_device ? variable_at(image_of(address), at) : std::nullopt;
    if (!variable || !variable->range.contains(at)) refuse_side(function, direction, of_device);
    throw kata::Error("copy refused: " + std::string(function) + " is given \"" + variable->name +
                      "\", which is not an address in device memory: where it is declared __constant__ or "
                      "__device__, use cudaMemcpy" +
                      (std::string_view(direction) == "to" ? "To" : "From") + "Symbol");
}
[[noreturn]] void refuse_side(const char* function, const char* direction, bool of_device) {
    const bool has_default = std::string_view(function) != "cudaMemcpy";
    const bool to_symbol = std::string_view(function) == "cudaMemcpyToSymbol";
    throw kata::Error(
        std::string("copy refused: ") + function + " is called to copy " + direction + " the " +
        (of_device ? "device, but that is memory of the host" : "host, but that is memory of the device") +
        (has_default ? std::string(": its fifth argument says so, and is ") +
                           (to_symbol ? "cudaMemcpyHostToDevice" : "cudaMemcpyDeviceToHost") +
                           " where it is left out. CUDA leaves undefined what such a copy does"
                     : ""));
}

Way begin_copy_memory(void* to, const void* from, std::size_t bytes, Room room, Named symbol) {
    if (const auto there = elsewhere<begin_copy_memory>) return there(to, from, bytes, room, symbol);
    if (bytes > room.to || bytes > room.from)
        throw kata::Error("copy refused: " + std::to_string(bytes) +
                          " bytes, and the host's array has room for " +
                          std::to_string(bytes > room.to ? room.to : room.from));
    const bool from_device = reach(from, bytes, false, symbol == Named::from);
    const bool to_device = reach(to, bytes, true, symbol == Named::to);
    if (!from_device || !to_device)
        return to_device ? Way::to_device : from_device ? Way::to_host : Way::within_host;
    host_work.bytes_beside += 2 * bytes;
    const Reachable now;
    if (bytes > 0) std::memmove(to, from, bytes);
    return Way::within_device;
}
void store(void* to, std::span<const std::byte> bytes, bool is_symbol) {
    if (const auto there = elsewhere<store>) return there(to, bytes, is_symbol);
    if (!reach(to, bytes.size(), true, is_symbol)) throw Forged("device memory that it does not have");
    host_work.bytes_to_device += bytes.size();
    const Reachable now;
    std::copy(bytes.begin(), bytes.end(), static_cast<std::byte*>(to));
}
std::vector<std::byte> load(const void* from, std::size_t bytes, bool is_symbol) {
    if (const auto there = elsewhere<load>) return there(from, bytes, is_symbol);
    if (!reach(from, bytes, false, is_symbol)) throw Forged("device memory that it does not have");
    host_work.bytes_to_host += bytes;
    const Reachable now;
    const auto* const begin = static_cast<const std::byte*>(from);
    return {begin, begin + bytes};
}

namespace {

void copy_any(void* to, const void* from, std::size_t bytes, Room room, Named symbol) {
    constexpr std::size_t at_a_time = 16 << 20;
    const auto way = begin_copy_memory(to, from, bytes, room, symbol);
    if (way == Way::within_device) return;
    for (std::size_t at = 0; at < bytes; at += at_a_time) {
        const std::span piece(static_cast<const std::byte*>(from) + at, std::min(bytes - at, at_a_time));
        auto* const place = static_cast<std::byte*>(to) + at;
        if (way == Way::within_host) return void(std::memmove(to, from, bytes));
        if (way == Way::to_device) {
            store(place, piece, symbol == Named::to);
        } else {
            const auto loaded = load(piece.data(), piece.size(), symbol == Named::from);
            std::copy(loaded.begin(), loaded.end(), place);
        }
    }
}

}  // namespace

void copy_memory(void* to, const void* from, std::size_t bytes, Room room) {
    copy_any(to, from, bytes, room, Named::none);
}
void copy_to_symbol(void* symbol, const void* from, std::size_t bytes) {
    copy_any(symbol, from, bytes, {}, Named::to);
}
void copy_from_symbol(void* to, const void* symbol, std::size_t bytes) {
    copy_any(to, symbol, bytes, {}, Named::from);
}

void fill_memory(void* to, int value, std::size_t bytes) {
    if (const auto there = elsewhere<fill_memory>) return there(to, value, bytes);
    if (bytes > 0 && !is_of_device(to))
        throw kata::Error("cudaMemset refused: that is memory of the host; use std::memset or std::fill");
    host_reaches(to, bytes, true);
    if (auto* const a = bytes == 0 && value != 0 ? around(to) : nullptr) a->no_bytes_set_to = value;
    if (symbol_at(to)) fill_symbol(to, bytes);
    host_work.bytes_beside += bytes;
    const Reachable now;
    if (bytes > 0) std::memset(to, value, bytes);
}

bool host_has_filled(std::uintptr_t address) {
    const auto& ranges = filled();
    return std::any_of(ranges.begin(), ranges.end(), [&](const Range& r) { return r.contains(address); });
}

void* symbol_address(void* symbol, std::size_t bytes) {
    if (const auto there = elsewhere<symbol_address>) return there(symbol, bytes);
    require_variable(symbol, bytes);
    const auto begin = reinterpret_cast<std::uintptr_t>(symbol);
    if (!symbol_at(symbol)) symbols().push_back({begin, begin + bytes});
    return symbol;
}

void check_symbol(std::size_t size, std::size_t offset, std::size_t bytes) {
    if (offset > size || bytes > size - offset)
        throw kata::Error("copy refused: " + std::to_string(bytes) + " bytes at offset " +
                          std::to_string(offset) + " do not fit into a symbol of " + std::to_string(size) +
                          " bytes");
}

}  // namespace simt

namespace kata::device {

void* allocate(std::size_t bytes, std::string_view name, std::byte poison) {
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const auto whole = bytes + 2 * simt::canary_bytes, mapped = (whole + page - 1) / page * page;
    // Whole pages, which can be protected from the host.
    const auto with_gaps = mapped + 2 * simt::gap_bytes;
    using simt::last_shared;
    const int shared_file = simt::shared_memory();
    if (simt::table().empty()) last_shared = simt::end_shared;
    void* const mapping =
        whole < bytes || (shared_file != -1 && with_gaps > last_shared - simt::first_shared) ? MAP_FAILED
        : shared_file != -1 ? simt::map_shared(shared_file, last_shared - with_gaps, with_gaps)
                            : simt::map_own(with_gaps);
    if (mapping == MAP_FAILED)
        throw Error("no room for " + std::to_string(bytes) + " bytes of device memory for \"" +
                    std::string(name) + "\"");
    if (shared_file != -1) last_shared -= with_gaps;
    auto* const base = static_cast<std::byte*>(mapping) + simt::gap_bytes;
    auto* const data = base + simt::canary_bytes;
    const auto start = reinterpret_cast<std::uintptr_t>(base), begin = reinterpret_cast<std::uintptr_t>(data);
    const bool backed = poison != std::byte{0};
    if (backed) simt::populate({start, start + mapped});
    std::fill(base, data, simt::canary);
    if (backed) std::fill(data, data + bytes, poison);  // new pages are zero and not yet backed by memory
    std::fill(data + bytes, base + whole, simt::canary);
    simt::Allocation entry{
        {begin, begin + bytes}, std::string(name), false, ++simt::serial, {start, start + mapped}};
    entry.backed = backed;
    if (simt::in_observation && simt::reachable == 0) simt::protect(entry.pages, PROT_NONE);
    simt::insert(std::move(entry));
    return data;
}

void release(void* pointer) noexcept {
    if (!pointer) return;
    auto* entry = simt::find(pointer);
    if (!entry) return;
    const auto whole = simt::with_gaps(*entry), period = entry->period;
    simt::unmap(*entry);
    simt::table().erase(simt::table().begin() + (entry - simt::table().data()));
    simt::give_back({whole.begin - simt::first_shared, whole.end - simt::first_shared});
    simt::give_back(period);
}

void upload(void* to, const void* from, std::size_t bytes) {
    simt::host_reaches(to, bytes, true);
    const simt::Reachable now;
    if (bytes > 0) std::memmove(to, from, bytes);
}

void repeat(void* to, std::size_t bytes, std::span<const std::byte> period) {
    simt::host_reaches(to, bytes, true);
    const simt::Reachable now;
    auto* const begin = static_cast<std::byte*>(to);
    const auto copy = [&](std::size_t from, std::size_t end) {
        for (std::size_t at = from; at < end;) {
            const auto part = period.subspan(at % period.size());
            const auto count = std::min(part.size(), end - at);
            std::memcpy(begin + at, part.data(), count);
            at += count;
        }
    };
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const auto first = (page - reinterpret_cast<std::uintptr_t>(to) % page) % page;
    if (period.size() % page != 0 || bytes < first + 2 * period.size()) return copy(0, bytes);
    copy(0, first + period.size());
    auto done = first + period.size();
    const auto end = bytes - (bytes - first) % page;
    const bool shared = simt::shared_file != -1;
    const int file = shared ? simt::shared_file : file_in_memory();
    const auto at = shared ? (simt::last_shared -= period.size()) - simt::first_shared : std::uintptr_t{0};
    auto& entry = *simt::around(to);
    if (file != -1 && pwrite(file, begin + first, period.size(), static_cast<off_t>(at)) ==
                          static_cast<ssize_t>(period.size())) {
        entry.period = {at, at + period.size()};
        entry.copies = {reinterpret_cast<std::uintptr_t>(begin) + done,
                        reinterpret_cast<std::uintptr_t>(begin) + end};
        if (!simt::map_copies(entry, file)) throw Error("no room for \"" + entry.name + "\"");
        done = end;
    }
    if (!shared && file != -1) close(file);
    copy(done, bytes);
}

void download(void* to, const void* from, std::size_t bytes) {
    const simt::Reachable now;
    if (bytes > 0) std::memcpy(to, from, bytes);
}

std::optional<std::string> damage(const void* pointer) {
    const auto* entry = simt::find(pointer);
    if (!entry) return std::nullopt;
    const simt::Reachable now;
    const auto* data = static_cast<const std::byte*>(pointer);
    const auto size = entry->range.size();
    const auto spoilt = [](std::byte b) { return b != simt::canary; };
    const auto name = "\"" + entry->name + "\" of " + std::to_string(size) + " bytes";
    if (const auto* at = std::find_if(data + size, data + size + simt::canary_bytes, spoilt);
        at != data + size + simt::canary_bytes)
        return "out of bounds: something was written " + std::to_string(at - (data + size)) +
               " bytes past the end of " + name;
    const auto* first = data - simt::canary_bytes;
    if (const auto* at = std::find_if(first, data, spoilt); at != data)
        return "out of bounds: something was written " + std::to_string(data - at) + " bytes before " + name;
    return std::nullopt;
}

}  // namespace kata::device
