// The texts of findings other than races.
#include "meter/meter.hpp"

#include <algorithm>

namespace meter {

/// Called when a thread reads a zero in constant memory: the host may never have filled the variable.
void Meter::notice_unfilled(std::uintptr_t address, std::size_t bytes, std::uint32_t code) {
    if (rehearsing_ || unfilled_.contains(address) || simt::host_has_filled(address)) return;
    const auto variable = simt::variable_at(grid_.image, address);
    if (!variable || !variable->range.contains(address)) return;
    unfilled_ = variable->range;
    if (!findings_.is_new({variable->name, "unfilled"})) return;
    findings_.causes.push_back('"' + variable->name + "\" is read in " + line(code) + ", at element " +
                               std::to_string((address - variable->range.begin) / bytes) +
                               ", where the host has written nothing since the step was called: is there a "
                               "cudaMemcpyToSymbol before the launch, and does it copy all bytes?");
}

/// Threads that meet at barriers share data. Reports a local array where __shared__ may be missing.
void Meter::miss_shared_memory() {
    if (barriers_ == 0 || !findings_.is_new({grid_.launch.name, "a __shared__ too few"})) return;
    if (const auto array = local_array_of_threads(grid_.image, grid_.launch.site.file, grid_.launch.name))
        findings_.causes.push_back('"' + *array + "\" is a local array of " + grid_.launch.name +
                                   ", of which each thread has its own, and its index is computed from "
                                   "threadIdx: is __shared__ missing in front of it?");
}

void Meter::touch_from_host(const void* pointer, Verb verb, const void* code) {
    if (!observing_ || findings_.full()) return;
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    const auto& buffers = simt::allocations();
    const auto buffer = std::find_if(buffers.begin(), buffers.end(),
                                     [&](const auto& a) { return a.range.contains(address); });
    std::string what;
    const bool managed = buffer != buffers.end() && buffer->managed;
    if (managed && is_of_host(*buffer)) return;
    if (managed)
        what = '"' + buffer->name + "\", which is managed memory that a launch may still use";
    else if (buffer != buffers.end())
        what = '"' + buffer->name + "\", which is device memory";
    else if (constants_.contains(address))
        what = "a constant, which is in device memory";
    else
        return;
    const auto image = simt::image_of(code);
    const auto at =
        line_of(image, static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(code) - image.base));
    if (findings_.is_new({at, "host"}))
        findings_.add(
            "the host " + std::string(writes(verb) ? "writes to " : "reads ") + what + ", in " + at +
            (managed ? ": call cudaDeviceSynchronize() first"
                     : ": on a GPU the program ends there; let a kernel do it, or one of the cudaMemcpy and "
                       "cudaMemset calls"));
}

/// Returns the name of the kernel's parameter that points to the region. If none does, or if several point to
/// different places in it, returns the region's own name.
std::string Meter::name_of(const Region& region) const {
    if (region.serial == 0) return region.name;
    std::string name = region.name;
    std::uintptr_t named = 0;
    const auto names = parameters();
    for (std::size_t i = std::min(names.size(), grid_.launch.parameters); i-- > 0;) {
        const auto points_to = reinterpret_cast<std::uintptr_t>(grid_.launch.pointers[i]);
        if (points_to != region.range.begin && !region.range.contains(points_to)) continue;
        if (named != 0 && named != points_to) return '"' + region.name + '"';
        name = names[i];
        named = points_to;
    }
    return '"' + name + '"';
}

/// Names the variable at an address and its element, counted in elements as wide as the access.
std::string Meter::text_of(const Region& region, std::uintptr_t address, std::size_t bytes) const {
    const auto element = [&](std::uintptr_t begin) {
        return ", element " + std::to_string((address - begin) / bytes);
    };
    const auto variable = region.range.begin == grid_.image.shared.begin || &region == &variables_
                              ? simt::variable_at(grid_.image, address)
                              : std::nullopt;
    if (variable && variable->range.contains(address))
        return (region.space == Space::shared ? "shared memory \"" : "the __device__ variable \"") +
               variable->name + '"' + (variable->range.size() > bytes ? element(variable->range.begin) : "");
    const bool named = region.serial != 0 || region.space == Space::shared;
    return name_of(region) +
           (named && region.range.begin != grid_.image.shared.begin ? element(region.range.begin) : "");
}

void Meter::tell_too_early(const Region& region, std::uintptr_t address, std::size_t bytes, Verb verb,
                           std::uint32_t code, std::uint32_t copy) {
    if (findings_.full()) return;
    const auto mine = line(code), other = line(copy);
    if (!findings_.is_new(std::minmax(mine, other))) return;
    findings_.add(std::string(writes(verb) ? "write" : "read") +
                  " before the copy into shared memory has arrived: " + here() +
                  (writes(verb) ? " writes to " : " reads ") + text_of(region, address, bytes) + " in " +
                  mine + ", where the copy of " + other +
                  " is still in flight\n  wait for it with __pipeline_commit() and __pipeline_wait_prior(0), "
                  "and then with a barrier for those of the other threads; consumer_wait() of a block's "
                  "cuda::pipeline does both; a wait with a larger number counts groups, so a group must be "
                  "committed in each round, even if nothing is copied");
}

/// Describes how much of an array has been written, on a line of its own.
std::string Meter::written_so_far(const Region& region, std::uintptr_t address, std::size_t bytes) const {
    if (region.space != Space::shared) {
        const auto offset = address - region.range.begin;
        if (const auto words = region.shadow->written_by_kernels_beside(offset / 4, (offset + bytes - 1) / 4))
            return "\n  kernels have written " + std::to_string(words) + " of the array's " +
                   std::to_string(region.range.size() / 4) +
                   " words of 4 bytes, but not this one: is the index right, both here and where it is "
                   "stored?";
        std::string text =
            "\n  neither the host nor a kernel has set it since it was allocated: set it before, for zeros "
            "with cudaMemset";
        for (const auto& a : simt::allocations())
            if (a.range.begin == region.range.begin && a.no_bytes_set_to)
                text += "; the host has called it with the value " + std::to_string(*a.no_bytes_set_to) +
                        " and 0 bytes: the value comes first, and then the number of bytes";
        const auto after = std::find_if(region.written_parts.begin(), region.written_parts.end(),
                                        [&](const simt::Range& part) { return part.begin > offset; });
        if (after == region.written_parts.begin()) return text;
        const auto& part = *(after - 1);
        return text + "; the host has set bytes " + std::to_string(part.begin) + " to " +
               std::to_string(part.end - 1) + " of this array, and this element begins at byte " +
               std::to_string(offset) + ": is the number of bytes too small, or is it a number of elements?";
    }
    const auto variable = region.range.begin == grid_.image.shared.begin
                              ? simt::variable_at(grid_.image, address)
                              : std::nullopt;
    const auto range = variable ? variable->range : region.range;
    if (range.size() < 8 || range.size() % 4 != 0) return "";
    const auto first = (range.begin - region.range.begin) / 4, words = range.size() / 4;
    const auto written = region.shadow->written_of(first, first + words - 1, region.epoch);
    if (written.partly) return "";
    if (written.words == 0) return "\n  nothing has been written to this array so far";
    std::set<std::string> lines;
    for (const auto code : written.codes) lines.insert(line(code));
    std::string in;
    for (const auto& one : lines) in += (in.empty() ? ", in " : ", ") + one;
    return "\n  written so far: " + std::to_string(written.words) + " of its " + std::to_string(words) +
           " words" + in +
           "; every word that is read must be written before, also by threads that have no other work";
}

void Meter::tell_unwritten(const Region& region, std::uintptr_t address, std::size_t bytes,
                           std::uint32_t code) {
    // In shared memory it is often harmless: a rehearsal of the launch tells whether it makes a difference.
    const bool shared = region.space == Space::shared;
    if (rehearsing_ || findings_.full() || (shared && doubted_.contains(code))) return;
    const auto at = line(code);
    const auto text = "read of unwritten memory: " + here() + " reads " + text_of(region, address, bytes) +
                      " in " + at + simt::which_launch() + written_so_far(region, address, bytes);
    if (shared) {
        doubted_.insert(code);
        doubts_.try_emplace(at, text);
    } else if (findings_.is_new({at, ""})) {
        findings_.add(text);
    }
}

void Meter::undefined(const void* code, const std::function<std::string()>& text) {
    if (rehearsing_ || !looks_for_races_ || findings_.full() || !doubted_.insert(offset_of(code)).second)
        return;
    doubts_.try_emplace(line(code), text());
}

void Meter::tell_read_only(const Region& region, std::uintptr_t address, std::size_t bytes,
                           std::uint32_t writes, std::uint32_t reads) {
    if (findings_.full()) return;
    const auto read = line(reads), write = line(writes);
    if (!findings_.is_new({read, write})) return;
    findings_.add("__ldg() of memory that the same launch writes: it reads " +
                  text_of(region, address, bytes) + " in " + read + ", which is written in " + write +
                  "\n  the cache of __ldg() may return an older value: read the memory without it");
}

}  // namespace meter
