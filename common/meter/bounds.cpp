// Accesses that end the launch.
#include "meter/meter.hpp"

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace meter {

namespace {

/// The distance of an access from a variable or a buffer, as in "40 bytes past the end of "in" (400 bytes)".
struct Miss {
    std::uintptr_t distance = ~std::uintptr_t{0};
    std::string text;
    std::string remedy = {};  ///< printed on a line of its own
};

/// If an index is a thread's place in a grid whose blocks have as many elements as threads, or a multiple of
/// that, returns it in words, such as "2 * blockIdx.x * blockDim.x + threadIdx.x"; else nothing.
std::string place_in_grid(std::uint64_t index, unsigned threads) {
    const std::uint64_t thread = simt::running->index.x,
                        of_block = std::uint64_t{simt::running_block->index.x} * threads;
    if (of_block == 0 || index < of_block + thread || (index - thread) % of_block != 0) return "";
    const auto times = (index - thread) / of_block;
    return (times == 1 ? "" : std::to_string(times) + " * ") + "blockIdx.x * blockDim.x" +
           (thread == 0 ? "" : " + threadIdx.x");
}

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
                behind = {
                    distance,
                    "beginning " + std::to_string(distance) + " bytes before the start of " + name + size,
                    "\n  nothing lies before its first element: does a test before this line leave out the "
                    "threads or rounds that would reach there?"};
        } else if (const auto distance = address + bytes - range.end; distance < before.distance) {
            before = {distance,
                      (address == range.end ? "right past the end of "
                       : address > range.end
                           ? "beginning " + std::to_string(address - range.end) + " bytes past the end of "
                           : "of which the last " + std::to_string(distance) + " lie past the end of ") +
                          name + size,
                      remedy_past_the_end(range, name, address, bytes)};
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
    const auto& [nearest, other] =
        before.distance < behind.distance ? std::tie(before, behind) : std::tie(behind, before);
    const bool is_clear = near <= next_to_it || far >= 4 * near;
    std::string remedy;
    if (address < 4096)
        text += "through a null pointer";
    else if (constants_.contains(address))
        text += "of constant memory, which no kernel can write";
    else if (const auto pointer = meant ? std::nullopt : host_pointer_at(address, near))
        text += "of host memory, where \"" + *pointer + "\" points: on a GPU the kernel ends there";
    else if (const auto lost = simt::lost_upper_bits(address); !lost.empty())
        simt::give_up(text + "that lie " + lost + ", in " + line(offset_of(code)) +
                      simt::why_upper_bits_are_lost);
    else if (near < reach) {
        text += nearest.text + (is_clear ? "" : ", and " + other.text);
        if (is_clear) remedy = nearest.remedy;
    } else
        text += grid_.image.all.contains(address) ? "of the module's constants or code"
                                                  : "that are not device memory";
    simt::give_up(text + ", in " + line(offset_of(code)) + remedy);
}

/// Returns which comparison may be missing before an access past the end of a range, on a line of its own.
std::string Meter::remedy_past_the_end(const simt::Range& range, const std::string& name,
                                       std::uintptr_t address, std::size_t bytes) const {
    const auto size = range.size();
    if (size == 0 && range.begin == resident().dynamic_shared.range.begin)
        return "\n  the launch must state how many bytes this array has: kernel<<<grid, block, bytes>>>";
    if (address < range.end)
        return "\n  whole accesses of " + std::to_string(bytes) + " bytes end at byte " +
               std::to_string(size / bytes * bytes) + " of " + std::to_string(size) +
               ": the bytes after it need narrower ones";
    const auto index = (address - range.begin) / bytes, count = size / bytes;
    // A wide access does not show how wide the elements are.
    if (count < 2 || bytes > sizeof(double) || size % bytes != 0 || (address - range.begin) % bytes != 0)
        return "";
    std::string text = "\n  its index, counted from the start of " + name + ", is " + std::to_string(index);
    const auto& thread = *simt::running;
    const auto of_block = std::uint64_t{simt::running_block->index.x} * grid_.block_dim.x;
    if (of_block > 0 && index == of_block) text += ", which here is blockIdx.x * blockDim.x";
    if (of_block > 0 && thread.index.x > 0 && index == of_block + thread.index.x)
        text += ", which here is blockIdx.x * blockDim.x + threadIdx.x";
    const auto factors = factors_of(count);
    text += ", and there are " + std::to_string(count) + " elements" + factors;
    // Far beyond the end, more than a guard may be wrong.
    if (index >= 2 * count) return text;
    const bool of_planes = grid_.grid_dim.z * grid_.block_dim.z > 1,
               of_rows = grid_.grid_dim.y * grid_.block_dim.y > 1;
    const bool is_product = factors.ends_with('"') || (factors.empty() && (of_rows || of_planes));
    return text + ": is there a guard before this line that admits only " +
           (!is_product ? "indices below that number?"
            : of_planes ? "x, y and z below their own limits, also where a neighbour is accessed?"
                        : "rows and columns below their own limits, and is the row multiplied by the "
                          "length of a row of this array?");
}

/// Returns ", as "n" says" or ", "width" times "height"" if exactly one parameter, or one pair of them, has
/// this value; else nothing.
std::string Meter::factors_of(std::uint64_t count) const {
    if (auto one = named_number(count); !one.empty()) return one;
    const auto names = parameters();
    const auto known = std::min(names.size(), grid_.launch.parameters);
    std::string found;
    for (std::size_t i = 0; i < known; ++i)
        for (std::size_t j = i + 1; j < known; ++j) {
            const auto &a = grid_.launch.numbers[i], &b = grid_.launch.numbers[j];
            if (!a || !b || *a < 2 || *b < 2 ||
                static_cast<std::uint64_t>(*a) != count / static_cast<std::uint64_t>(*b) ||
                count % static_cast<std::uint64_t>(*b) != 0)
                continue;
            if (!found.empty()) return "";
            found = ", \"" + names[i] + "\" times \"" + names[j] + '"';
        }
    return found;
}

/// Returns which row of an array begins where a wide access must not, on a line of its own, if exactly one
/// parameter of the kernel can be the length of its rows; else nothing.
std::string Meter::misaligned_row(std::uint64_t offset, std::uint64_t bytes, std::uint64_t size) const {
    const auto names = parameters();
    const auto known = grid_.launch.parameters;
    const auto number = [&](std::size_t i) {
        const auto& value = grid_.launch.numbers[i];
        return value && *value > 1 ? static_cast<std::uint64_t>(*value) : 0;
    };
    std::string found;
    for (const std::uint64_t element : {1, 2, 4, 8})
        for (std::size_t i = 0; element < bytes && i < known; ++i) {
            const auto row = number(i), count = size / element, wide = bytes / element;
            if (row == 0 || size % element != 0 || offset % element != 0 || count % row != 0) continue;
            bool is_whole = count / row == row || count / row == row * row;
            for (std::size_t j = 0; j < known; ++j)
                is_whole = is_whole || (j != i && count / row == number(j));
            const auto at = offset / element;
            if (!is_whole || row % wide == 0 || at % row % wide != 0) continue;
            if (!found.empty()) return "";
            found = "\n  where rows have " + std::to_string(row) + " elements" +
                    (i < names.size() ? ", as \"" + names[i] + "\" says" : "") + ", it is element " +
                    std::to_string(at % row) + " of row " + std::to_string(at / row) +
                    ": only if their length is a multiple of " + std::to_string(wide) +
                    " does every row begin at a multiple of " + std::to_string(bytes) + " bytes";
        }
    return found;
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
    const auto extent = type.find('[');
    const auto count = extent == type.npos ? 0 : std::strtoull(type.c_str() + extent + 1, nullptr, 10);
    // An array with a name is declared in the kernel.
    const auto of_grid = name && simt::running
                             ? place_in_grid(std::strtoull(index.c_str(), nullptr, 10), grid_.block_dim.x)
                             : "";
    const auto what =
        " uses index " + index + " of an array of type " + type + (name ? ", \"" + *name + '"' : "") +
        ", in " + at +
        (count == 0 ? ""
                    : "\n  its elements are 0 to " + std::to_string(count - 1) +
                          (index.starts_with('-') ? ": does a test or a loop before this line go below 0?"
                           : !of_grid.empty()
                               ? ", and " + index + " is " + of_grid +
                                     " here: no other block reaches this array, so does its index need "
                                     "blockIdx?"
                               : ": does a test or a loop before this line go further, or is the array too "
                                 "small?"));
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
