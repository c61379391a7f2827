// Accesses that end the launch.
#include "meter/meter.hpp"

#include <algorithm>

namespace meter {

namespace {

/// The distance of an access from a variable or a buffer, as in "40 bytes past the end of "in" (400 bytes)".
struct Miss {
    std::uintptr_t distance = ~std::uintptr_t{0};
    std::string text;
};

}  // namespace

void Meter::refuse(std::uintptr_t address, std::size_t bytes, Verb verb, const void* code) {
    const auto whole = std::to_string(bytes) + (bytes == 1 ? " byte " : " bytes ");
    std::string text = "out of bounds: " + here() + (writes(verb) ? " writes " : " reads ") + whole;
    // The nearest memory on either side: which one was meant is unknown if both are about as near.
    Miss before, behind;
    const auto consider = [&](const Region& r) {
        if (r.range.begin == 0 || (r.range.size() == 0 && address < r.range.begin) ||
            (r.range.size() == 0 && r.space == Space::shared && address - r.range.begin > grid_.shared_limit))
            return;
        auto range = r.range;
        auto name = name_of(r);
        if (r.range.size() > 0 && r.range.begin == grid_.image.shared.begin)
            if (const auto variable =
                    simt::variable_at(grid_.image, std::clamp(address, r.range.begin, r.range.end - 1))) {
                range = variable->range;
                name = "shared memory \"" + variable->name + "\"";
            }
        const auto size = " (" + std::to_string(range.size()) + " bytes" +
                          (&r == &resident().dynamic_shared ? ", the third argument of <<<)" : ")");
        if (address < range.begin) {
            const auto distance = range.begin - address;
            if (distance < behind.distance)
                behind = {distance, "beginning " + std::to_string(distance) + " bytes before the start of " +
                                        name + size};
        } else if (const auto distance = address + bytes - range.end; distance < before.distance) {
            before = {distance,
                      (address == range.end ? "right past the end of "
                       : address > range.end
                           ? "beginning " + std::to_string(address - range.end) + " bytes past the end of "
                           : "of which the last " + std::to_string(distance) + " lie past the end of ") +
                          name + size};
        }
    };
    const auto at = offset_of(code);
    const auto* const meant = at < reached_by_.size() ? reached_by_[at] : nullptr;
    if (meant) {  // this instruction has accessed it before, in this thread or another
        consider(*meant);
    } else {
        for (const auto& r : globals_) consider(r);
        consider(resident().static_shared);
        consider(resident().dynamic_shared);
    }
    const auto near = std::min(before.distance, behind.distance),
               far = std::max(before.distance, behind.distance);
    constexpr std::uintptr_t reach = 1 << 24, next_to_it = 256;
    if (address < 4096)
        text += "through a null pointer";
    else if (constants_.contains(address))
        text += "of constant memory, which no kernel can write";
    else if (const auto pointer = meant ? std::nullopt : host_pointer_at(address, near))
        text += "of host memory, where \"" + *pointer + "\" points: on a GPU the kernel ends there";
    else if (const auto lost = simt::lost_upper_bits(address); !lost.empty())
        simt::give_up(text + "that lie " + lost + ", in " + line(offset_of(code)) +
                      simt::why_upper_bits_are_lost);
    else if (near < reach)
        text += (before.distance < behind.distance ? before : behind).text +
                (near <= next_to_it || far >= 4 * near
                     ? ""
                     : ", and " + (before.distance < behind.distance ? behind : before).text);
    else
        text += grid_.image.all.contains(address) ? "of the module's constants or code"
                                                  : "that are not device memory";
    simt::give_up(text + ", in " + line(offset_of(code)));
}

/// Returns the pointer parameter of the kernel nearest to the address that does not point to device memory,
/// if it is nearer than `near`.
std::optional<std::string> Meter::host_pointer_at(std::uintptr_t address, std::uintptr_t near) const {
    constexpr std::uintptr_t beside_buffers = 1 << 20;  // nothing else can lie in this distance
    const auto of_device = [&](std::uintptr_t p) {
        return grid_.image.all.contains(p) ||
               std::any_of(globals_.begin(), globals_.end(), [&](const Region& r) {
                   return p + beside_buffers >= r.range.begin && p <= r.range.end + beside_buffers;
               });
    };
    std::optional<std::string> found;
    const auto names = parameters();
    for (std::size_t i = 0; i < std::min(names.size(), grid_.launch.parameters); ++i) {
        const auto p = reinterpret_cast<std::uintptr_t>(grid_.launch.pointers[i]);
        const auto distance = address > p ? address - p : p - address;
        if (p < 4096 || of_device(p) || distance >= near) continue;
        near = distance;
        found = names[i];
    }
    return found;
}

void Meter::hold_to_device(std::uintptr_t address, std::size_t bytes, Verb verb, const void* code) {
    for (const auto& known : of_device_)
        if (known.contains(address)) return;
    const std::string_view names(grid_.launch.of_device, static_cast<std::size_t>(grid_.launch.of_device_end -
                                                                                  grid_.launch.of_device));
    if (const auto variable = simt::host_variable_at(grid_.image, address, names))
        simt::give_up("host memory: " + here() + (writes(verb) ? " writes " : " reads ") +
                      std::to_string(bytes) + (bytes == 1 ? " byte of \"" : " bytes of \"") + variable->name +
                      "\", a variable of the host, which no kernel can reach: declare it "
                      "__constant__ or __device__, or copy it to memory of the device, in " +
                      line(offset_of(code)));
    const auto variable = simt::variable_at(grid_.image, address);
    const bool whole = variable && variable->range.contains(address);
    of_device_[next_of_device_++ % of_device_.size()] =
        whole ? variable->range : simt::Range{address, address + bytes};
}

void Meter::refuse_index(const std::string& index, const std::string& type, const char* file, unsigned line) {
    const auto at = simt::text_of(simt::Site{file, static_cast<int>(line)});
    const auto name = indexed_array(grid_.image, file, line);
    const auto what = " uses index " + index + " of an array of type " + type +
                      (name ? ", \"" + *name + '"' : "") + ", in " + at;
    if (simt::running) simt::give_up("out of bounds: " + here() + what);
    if (observing_ && !findings_.full() && findings_.is_new({at, "index"}))
        findings_.add("out of bounds: the host code" + what);
}

void Meter::check_stack(const void* here_on_stack, const void* code) {
    constexpr std::ptrdiff_t reserve = 24 * 1024;  // for the runtime itself
    if (static_cast<const std::byte*>(here_on_stack) - simt::running->stack < reserve)
        simt::give_up("stack overflow: " + here() + " has no room for its local variables in " +
                      line(offset_of(code)) + "; does a recursion end, and are its arrays small?");
}

}  // namespace meter
