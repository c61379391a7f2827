#include "judge/origin.hpp"

#include "check/grid.hpp"
#include "error.hpp"
#include "watch.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace kata {

namespace {

using Address = std::uintptr_t;

constexpr std::size_t most_accesses = 1 << 20;  // a larger problem is not traced

/// A thread of a launch.
struct ThreadId {
    std::size_t launch;
    std::uint64_t block;
    unsigned thread;
    auto operator<=>(const ThreadId&) const = default;
};

/// An access to global memory.
struct Access {
    Address address;
    unsigned bytes;
    std::uint32_t code;
    char did;           // 'l'oad, 's'tore or 'a'tomic
    std::size_t array;  // its index in the trail
    ThreadId id;
};

/// Remembers the accesses of a run, in their order.
class Trail final : public Watcher {
  public:
    Interest interest() const override { return {.blocks = false, .counts = false}; }
    void launch_begins(const Scene& scene) override {
        scenes_.push_back(scene);
        latest_ = {};
    }
    void request(const Request& r) override {
        for (unsigned lane = 0; lane < 32; ++lane) {
            if (accesses_.size() >= most_accesses) return;
            if (!(r.lanes >> lane & 1)) continue;
            const ThreadId id{scenes_.size() - 1, r.block, r.warp * 32 + lane};
            if (r.memory == std::string_view("shared")) uses_shared_.insert(id);
            if (r.memory == std::string_view("global"))
                accesses_.push_back(
                    {r.addresses[lane], r.bytes, r.code, *r.did, array_of(r.addresses[lane]), id});
        }
    }

    bool complete() const { return !accesses_.empty() && accesses_.size() < most_accesses; }
    const std::vector<Access>& accesses() const { return accesses_; }
    const std::vector<Scene>& scenes() const { return scenes_; }
    bool uses_shared(const ThreadId& id) const { return uses_shared_.contains(id); }
    const std::array<unsigned, 3>& grid(const ThreadId& id) const { return scenes_[id.launch].grid; }
    const Array& array(const Access& a) const { return arrays_[a.array]; }

    std::string line(const Access& a) const {
        return scenes_[a.id.launch].lines_of(std::span(&a.code, 1)).front();
    }
    Coordinates block(const ThreadId& id) const { return place(id.block, scenes_[id.launch].grid); }
    std::string text(const ThreadId& id) const {
        const auto triple = [](const Coordinates& p) {
            return "(" + std::to_string(p[0]) + "," + std::to_string(p[1]) + "," + std::to_string(p[2]) + ")";
        };
        return "thread " + triple(place(id.thread, scenes_[id.launch].block)) + " of block " +
               triple(block(id));
    }

  private:
    static Coordinates place(std::uint64_t i, const std::array<unsigned, 3>& extent) {
        return {i % extent[0], i / extent[0] % extent[1], i / extent[0] / extent[1]};
    }

    /// Looks the array up at once: it may be freed before the trail is read.
    std::size_t array_of(Address address) {
        if (!latest_ || address - arrays_[*latest_].begin >= arrays_[*latest_].bytes) {
            arrays_.push_back(scenes_.back().array_at(address));
            latest_ = arrays_.size() - 1;
        }
        return *latest_;
    }

    std::vector<Scene> scenes_;
    std::vector<Array> arrays_;
    std::optional<std::size_t> latest_;  // the array of the last access of this launch
    std::vector<Access> accesses_;
    std::set<ThreadId> uses_shared_;
};

/// An array, its elements and how messages name them.
struct Shown {
    Address begin;
    std::size_t bytes;  // in each element
    Grid grid;
    std::string name = {};  // empty for a result, whose elements are named by their coordinates
    std::string noun = "element";

    std::string text(Index i) const {
        return name.empty() ? coordinates(grid, i) : noun + " " + std::to_string(i);
    }
};

/// The last access to each element; null where there is none.
using Owners = std::vector<const Access*>;

Owners owners_of(const Trail& trail, const Shown& array, bool loads) {
    Owners owners(array.grid.total());
    for (const auto& a : trail.accesses()) {
        if ((a.did == 'l') != loads || a.address < array.begin) continue;
        const auto first = (a.address - array.begin) / array.bytes;
        const auto end = (a.address + a.bytes - array.begin + array.bytes - 1) / array.bytes;
        for (auto i = first; i < std::min(end, owners.size()); ++i) owners[i] = &a;
    }
    return owners;
}

/// The elements that a block or a thread reaches along an axis.
struct Reached {
    std::size_t first, last, count;
};

/// Returns the sizes and distances of the parts that blocks or threads access, if they are alike and leave
/// this gap; else nothing.
std::string uneven(const Trail& trail, const Shown& array, const Owners& owners, std::size_t axis,
                   std::size_t missing, const Access& before, const Access* after, bool loads) {
    const bool in_blocks = !after || after->id.block != before.id.block;
    // Neighbours are then stored by threads of the same number.
    const bool by_number = in_blocks && after && after->id.block < before.id.block && array.grid.axes == 1;
    // Another number of the block may be what changes along this axis, as in a transposition.
    auto of_block = axis;
    for (std::size_t other = 0; after && other < 3; ++other) {
        const auto here = trail.block(before.id), there = trail.block(after->id);
        if (here[axis] == there[axis] && here[other] != there[other]) of_block = other;
    }
    std::map<std::size_t, Reached> parts;
    const auto start = missing - array.grid.place(missing)[axis] * array.grid.stride(axis);
    for (std::size_t c = 0; c < array.grid.extent[axis]; ++c) {
        const auto* const owner = owners[start + c * array.grid.stride(axis)];
        if (!owner || owner->id.launch != before.id.launch) continue;
        if (!in_blocks && owner->id.block != before.id.block) continue;
        const auto of = in_blocks && !by_number ? trail.block(owner->id)[of_block] : owner->id.thread;
        auto& part = parts.try_emplace(of, Reached{c, c, 0}).first->second;
        part.last = c, ++part.count;
    }
    const auto grid = trail.grid(before.id);
    const auto blocks = grid[axis];
    // A row of a larger array or grid does not show how many blocks there should be.
    const bool counts_blocks = array.grid.axes == 1 && grid[1] == 1 && grid[2] == 1;
    if (!after && !loads && counts_blocks && parts.size() < blocks)
        return "\n  only " + std::to_string(parts.size()) + " of the " + std::to_string(blocks) + " blocks" +
               (parts.size() == 1 ? " stores" : " store") + " any element";
    if (!after && !loads && counts_blocks && blocks == 1)
        return "\n  there is 1 block, and it stores " + std::to_string(parts.begin()->second.count) +
               " of the " + std::to_string(array.grid.extent[axis]) + " elements";
    if (parts.size() < 2 || parts.begin()->first != 0) return "";
    const auto each = parts[0].count, apart = parts.contains(1) ? parts[1].first - parts[0].first : 0;
    std::size_t k = 0;
    for (const auto& [of, part] : parts) {
        const bool ends_early = k + 1 == parts.size() && part.count < each;
        if (of != k || part.first != parts[0].first + k * apart || part.last - part.first + 1 != part.count ||
            (part.count != each && !ends_early))
            return "";
        ++k;
    }
    const auto reaches = std::string(loads ? "loads" : "stores") + " " + std::to_string(each) + " " +
                         array.noun + (each == 1 ? "" : "s");
    if (after && apart != each && by_number)
        return "\n  the first threads of all blocks together " + std::string(loads ? "load " : "store ") +
               std::to_string(each) + " " + array.noun + (each == 1 ? "" : "s") +
               ", and the second ones begin " + std::to_string(apart) +
               " further on: both numbers must be the same";
    if (after && apart != each)
        return std::string("\n  each ") + (in_blocks ? "block " : "thread ") + reaches +
               ", and the next begins " + std::to_string(apart) +
               " further on: both numbers must be the same";
    const auto left = array.grid.extent[axis] - parts[0].first;
    if (!after && counts_blocks && parts.size() == blocks && apart == each && k * each < left)
        return "\n  there are " + std::to_string(k) + " blocks, and each " + reaches + ": " +
               std::to_string((left + each - 1) / each) + " would reach the end";
    return "";
}

/// Describes the threads on either side of an element that none accesses.
std::string gap(const Trail& trail, const Shown& array, const Owners& owners, std::size_t missing,
                bool loads) {
    const auto by = [&](std::size_t i) {
        return array.text(i) + ", is " + (loads ? "loaded" : "stored") + " by " + trail.text(owners[i]->id) +
               " in " + trail.line(*owners[i]);
    };
    const auto text = "no thread " + std::string(loads ? "loads " : "stores ") + array.text(missing) +
                      (array.name.empty() ? "" : " of \"" + array.name + '"');
    for (std::size_t axis = 0; axis < array.grid.axes; ++axis) {
        const auto stride = array.grid.stride(axis), at = array.grid.place(missing)[axis];
        std::size_t before = 1, after = 1;
        while (before <= at && !owners[missing - before * stride]) ++before;
        if (before > at) continue;
        while (at + after < array.grid.extent[axis] && !owners[missing + after * stride]) ++after;
        const bool any_after = at + after < array.grid.extent[axis];
        const auto* const next = any_after ? owners[missing + after * stride] : nullptr;
        return text + ": the last before it" +
               (array.grid.axes > 1 ? std::string(" along ") + "xyz"[axis] : "") + ", " +
               by(missing - before * stride) +
               (next ? ", and the next, " + by(missing + after * stride) : ", and none after it") +
               uneven(trail, array, owners, axis, missing, *owners[missing - before * stride], next, loads);
    }
    const auto first = std::find_if(owners.begin(), owners.end(), [](const Access* a) { return a; });
    return first == owners.end()
               ? ""
               : text + ": the first, " + by(static_cast<std::size_t>(first - owners.begin()));
}

/// Returns how many blocks of a grid with several axes store no element of the array, if some do.
std::string idle_blocks(const Trail& trail, const Owners& owners) {
    std::set<std::uint64_t> busy;
    const Access* any = nullptr;
    for (const auto* owner : owners) {
        if (!owner) continue;
        if (any && owner->id.launch != any->id.launch) return "";
        any = owner;
        busy.insert(owner->id.block);
    }
    if (!any || trail.grid(any->id)[1] * trail.grid(any->id)[2] == 1) return "";
    const auto& grid = trail.grid(any->id);
    const auto all = std::uint64_t{grid[0]} * grid[1] * grid[2];
    if (busy.size() == all) return "";
    ThreadId first = any->id;
    for (first.block = 0; busy.contains(first.block);) ++first.block;
    const auto text = trail.text(first);
    return "\n  " + std::to_string(all - busy.size()) + " of the " + std::to_string(all) + " blocks store" +
           (all - busy.size() == 1 ? "s" : "") + " no element, the first of them" +
           text.substr(text.find(" block "));
}

/// The bytes that a thread has loaded of each array, by its name.
using Loaded = std::map<std::string, std::set<std::size_t>>;

/// Returns what a thread had loaded before it stored, if it has stored once and used no shared memory.
std::optional<Loaded> loaded_for(const Trail& trail, const Access& store) {
    if (trail.uses_shared(store.id)) return std::nullopt;
    Loaded loaded;
    std::size_t stores = 0;
    for (const auto& a : trail.accesses()) {
        if (a.id != store.id) continue;
        stores += a.did != 'l';
        const auto& array = trail.array(a);
        for (unsigned i = 0; a.did == 'l' && i < a.bytes; ++i)
            loaded[array.name].insert(a.address + i - array.begin);
    }
    return stores == 1 ? std::optional(loaded) : std::nullopt;
}

/// The elements of an array, if its accesses show how wide they are; else its bytes.
struct Unit {
    std::size_t narrowest = ~std::size_t{0};

    void see(const Access& a) { narrowest = std::min<std::size_t>(narrowest, a.bytes); }
    bool known() const { return narrowest <= sizeof(double); }
    std::size_t bytes() const { return known() ? narrowest : 1; }
    std::string noun() const { return known() ? "element" : "byte"; }
};

/// Returns "elements 3 to 5, 9"; of many, the first.
std::string list(const std::set<std::size_t>& bytes, const Unit& unit) {
    std::vector<std::pair<std::size_t, std::size_t>> ranges;
    for (const auto b : bytes) {
        const auto i = b / unit.bytes();
        if (!ranges.empty() && i <= ranges.back().second + 1)
            ranges.back().second = i;
        else
            ranges.emplace_back(i, i);
    }
    const bool one = ranges.size() == 1 && ranges[0].first == ranges[0].second;
    constexpr std::size_t shown = 4;
    std::string text = unit.noun() + (one ? " " : "s ");
    for (std::size_t i = 0; i < std::min(ranges.size(), shown); ++i)
        text += (i == 0 ? "" : ", ") + std::to_string(ranges[i].first) +
                (ranges[i].first == ranges[i].second ? "" : " to " + std::to_string(ranges[i].second));
    return text + (ranges.size() > shown ? ", …" : "");
}

std::string joined(const std::set<std::string>& lines) {
    std::string text;
    for (const auto& line : lines) text += (text.empty() ? "" : ", ") + line;
    return text;
}

/// Compares what the thread of the wrong element loaded with what the solution's thread loads for it.
std::string loads(const Trail& mine, const Access& store, const Trail& theirs, const Access& its) {
    const auto here = loaded_for(mine, store), there = loaded_for(theirs, its);
    if (!here || !there || there->empty()) return "";
    for (const auto& [name, bytes] : *there) {
        const auto found = here->find(name);
        if (found == here->end() || found->second == bytes) continue;
        Unit unit;
        std::set<std::string> lines;
        for (const auto& a : mine.accesses())
            if (a.id == store.id && a.did == 'l' && mine.array(a).name == name) {
                unit.see(a);
                lines.insert(mine.line(a));
            }
        return "\n  it has loaded " + list(found->second, unit) + " of \"" + name + "\" in " + joined(lines) +
               "; for this result the solution loads " + list(bytes, unit);
    }
    if (*here != *there) return "";
    std::string stored;
    for (const auto& [name, bytes] : *here) {
        std::set<std::string> lines;
        for (const auto& a : mine.accesses())
            if (a.did != 'l' && mine.array(a).name == name && bytes.contains(a.address - mine.array(a).begin))
                lines.insert(mine.line(a));
        if (!lines.empty()) stored += ", at what \"" + name + "\" holds, which is stored in " + joined(lines);
    }
    return "\n  it has loaded just the elements that the solution loads for this result: look at how often "
           "each of them is used" +
           stored + ", and at what is computed from them";
}

/// Arrays and how wide the accesses to them are, by name.
using Arrays = std::map<std::string, std::pair<Array, Unit>>;

/// Returns the inputs: the arrays that are loaded before they are stored to.
Arrays inputs_of(const Trail& trail) {
    Arrays arrays;
    std::set<std::string> stored;
    for (const auto& a : trail.accesses()) {
        const auto& array = trail.array(a);
        const auto [found, is_first] = arrays.try_emplace(array.name, array, Unit{});
        if (is_first && a.did != 'l') stored.insert(array.name);
        found->second.second.see(a);
    }
    std::erase_if(arrays, [&](const auto& named) {
        return stored.contains(named.first) || named.second.first.bytes == 0;
    });
    return arrays;
}

/// Returns the first element of an input that no thread loads, if others are loaded, and if the solution,
/// where it is known, loads it.
std::string never_loaded(const Trail& trail, const Trail* theirs) {
    for (const auto& [name, known] : inputs_of(trail)) {
        const auto& array = known.first;
        const auto& unit = known.second;
        const auto count = array.bytes / unit.bytes();
        const Shown shown{array.begin, unit.bytes(), {{{static_cast<int>(count)}}, count}, name, unit.noun()};
        const auto owners = owners_of(trail, shown, true);
        Owners needed;
        if (theirs) {
            const auto& all = theirs->accesses();
            const auto one = std::find_if(all.begin(), all.end(), [&, name = name](const Access& a) {
                return theirs->array(a).name == name;
            });
            if (one == all.end()) continue;
            auto other = shown;
            other.begin = theirs->array(*one).begin;
            needed = owners_of(*theirs, other, true);
        }
        for (std::size_t i = 0; i < owners.size(); ++i)
            if (!owners[i] && (!theirs || needed[i])) return gap(trail, shown, owners, i, true);
    }
    return "";
}

/// If two blocks of a launch load, or store, neighboring parts of an array, of the same size, and these
/// overlap, returns the size and the distance between their beginnings; else nothing. The end of the array
/// may cut the second part short.
std::string overlap(const Trail& trail, const std::string& name, std::size_t launch,
                    const std::array<std::uint64_t, 2>& blocks, bool loads) {
    std::map<std::uint64_t, std::set<std::size_t>> parts;
    Unit unit;
    std::size_t end = 0;
    for (const auto& a : trail.accesses()) {
        const auto& array = trail.array(a);
        if ((a.did == 'l') != loads || a.id.launch != launch || array.name != name) continue;
        if (a.id.block != blocks[0] && a.id.block != blocks[1]) continue;
        unit.see(a);
        end = array.bytes;
        for (unsigned i = 0; i < a.bytes; ++i) parts[a.id.block].insert(a.address + i - array.begin);
    }
    if (parts.size() != 2) return "";
    const auto& [before, first] = *parts.begin();
    const auto& [after, second] = *parts.rbegin();
    const auto each = first.size(), begin = *first.begin(), next = *second.begin();
    const auto is_whole = [](const auto& part) { return *part.rbegin() - *part.begin() + 1 == part.size(); };
    const bool is_cut = second.size() < each && *second.rbegin() + 1 == end && *first.rbegin() + 1 < end;
    if ((second.size() != each && !is_cut) || !is_whole(first) || !is_whole(second) || next <= begin ||
        (next - begin) % (after - before) != 0 || (next - begin) / (after - before) >= each)
        return "";
    const auto apart = (next - begin) / (after - before);
    return std::string("each block ") + (loads ? "loads " : "stores ") + std::to_string(each / unit.bytes()) +
           " " + unit.noun() + "s of \"" + name + "\", and the next begins " +
           std::to_string(apart / unit.bytes()) +
           " further on: if each has a part of its own, both numbers must be the same";
}

/// Two threads of a launch that load the same element.
struct Both {
    std::size_t element;
    const Access *one, *other;
};

/// Returns the first element of an array that more than one thread of a launch loads.
std::optional<Both> loaded_by_two(const Trail& trail, const std::string& name, std::size_t bytes) {
    std::map<std::size_t, const Access*> latest;
    std::optional<Both> found;
    for (const auto& a : trail.accesses()) {
        const auto& array = trail.array(a);
        if (a.did != 'l' || array.name != name) continue;
        const auto begin = (a.address - array.begin) / bytes,
                   end = (a.address + a.bytes - array.begin) / bytes;
        for (auto i = begin; i < end; ++i) {
            auto*& before = latest.try_emplace(i, &a).first->second;
            if (before->id.launch == a.id.launch && before->id != a.id && (!found || i < found->element))
                found = {i, before, &a};
            before = &a;
        }
    }
    return found;
}

/// Returns which two threads load the same element of an input, if none do in the solution.
std::string loaded_twice(const Trail& mine, const Trail& theirs) {
    for (const auto& [name, known] : inputs_of(mine)) {
        const auto& unit = known.second;
        const auto both = loaded_by_two(mine, name, unit.bytes());
        if (!both || loaded_by_two(theirs, name, unit.bytes())) continue;
        const auto &one = *both->one, &other = *both->other;
        const auto parts = overlap(mine, name, one.id.launch, {one.id.block, other.id.block}, true);
        return unit.noun() + " " + std::to_string(both->element) + " of \"" + name + "\" is loaded by " +
               mine.text(one.id) + " in " + mine.line(one) + " and by " + mine.text(other.id) + " in " +
               mine.line(other) + "; in the solution only one thread loads it" +
               (parts.empty() ? "" : "\n  " + parts);
    }
    return "";
}

/// The bytes of an array that a thread has loaded, or stored.
using TouchedParts = std::map<std::pair<ThreadId, bool>, std::set<std::size_t>>;

/// Returns the parts of the race's array that its threads have loaded, and those that they have stored.
TouchedParts parts_of(const Race& race, const Trail& trail) {
    TouchedParts parts;
    for (const auto& a : trail.accesses()) {
        const auto is_of = [&](const Race::Thread& t) {
            return a.id == ThreadId{race.launch, t.block, t.thread};
        };
        if (trail.array(a).name != race.array ||
            std::none_of(race.threads.begin(), race.threads.end(), is_of))
            continue;
        for (const bool stores : {false, true})
            if (stores ? a.did != 'l' : a.did != 's')
                for (unsigned i = 0; i < a.bytes; ++i)
                    parts[{a.id, stores}].insert(a.address + i - trail.array(a).begin);
    }
    return parts;
}

/// Runs the step under the trail. Returns its result; nothing if it fails or does too much.
std::optional<const void*> follow(const Conditions& conditions, const Solve& solve, Trail& trail) {
    auto once_more = conditions;
    once_more.metered = true;
    const WatchedBy watching(trail);
    const void* result = nullptr;
    try {
        observe(once_more, [&] { result = solve(); });
    } catch (const Error&) {
        return std::nullopt;
    }
    return trail.complete() ? std::optional(result) : std::nullopt;
}

}  // namespace

std::string unlike_solution(const Conditions& conditions, const Race& race, const Solve& step,
                            const Solve& solution) {
    if (watcher) return "";
    Trail mine, theirs;
    if (!follow(conditions, step, mine) || !follow(conditions, solution, theirs)) return "";
    const auto alike = [](const Scene& a, const Scene& b) { return a.grid == b.grid && a.block == b.block; };
    const auto stored = [&](const Trail& trail) {
        return overlap(trail, race.array, race.launch, {race.threads[0].block, race.threads[1].block}, false);
    };
    const auto parts = stored(theirs).empty() ? stored(mine) : "";
    if (!std::equal(mine.scenes().begin(), mine.scenes().end(), theirs.scenes().begin(),
                    theirs.scenes().end(), alike))
        return parts;
    const auto here = parts_of(race, mine), there = parts_of(race, theirs);
    for (const auto& [part, bytes] : here) {
        const auto& [id, stores] = part;
        const auto found = there.find(part);
        if (found == there.end()) continue;
        std::set<std::size_t> more, fewer;
        std::set_difference(bytes.begin(), bytes.end(), found->second.begin(), found->second.end(),
                            std::inserter(more, more.end()));
        std::set_difference(found->second.begin(), found->second.end(), bytes.begin(), bytes.end(),
                            std::inserter(fewer, fewer.end()));
        if (more.empty()) continue;
        Unit unit;
        std::set<std::string> lines;
        for (const auto& a : mine.accesses()) {
            const auto& array = mine.array(a);
            if (a.id != id || array.name != race.array || (stores ? a.did == 'l' : a.did == 's')) continue;
            unit.see(a);
            if (more.contains(a.address - array.begin)) lines.insert(mine.line(a));
        }
        const auto verb = std::string(stores ? "stores " : "loads ");
        return parts + (parts.empty() ? "" : "\n") + mine.text(id) + ' ' + verb + list(more, unit) +
               " of \"" + race.array + "\" in " + joined(lines) + ", and not in the solution" +
               (fewer.empty() ? "" : "; there it " + verb + list(fewer, unit) + " instead");
    }
    return parts;
}

/// Returns that x and y of the blocks are exchanged, if that is so for each element that both have stored.
std::string exchanged_blocks(const Trail& mine, const Owners& here, const Trail& theirs,
                             const Owners& there) {
    bool differ = false;
    for (std::size_t i = 0; i < here.size(); ++i) {
        if (!here[i] || !there[i]) continue;
        const auto a = mine.block(here[i]->id), b = theirs.block(there[i]->id);
        if (a[0] != b[1] || a[1] != b[0] || a[2] != b[2] || here[i]->id.thread != there[i]->id.thread)
            return "";
        differ = differ || a != b;
    }
    return differ
               ? "\n  each block (x, y) stores to where block (y, x) stores in the solution, whose grid is "
                 "as large"
               : "";
}

std::string origin(const Conditions& conditions, const Element& wrong, const Solve& step,
                   const Solve& solution) {
    if (watcher) return "";  // the run is watched for another reason
    const auto watched = [&](const Solve& solve, Trail& trail) -> std::optional<Shown> {
        const auto result = follow(conditions, solve, trail);
        if (!result) return std::nullopt;
        return Shown{reinterpret_cast<Address>(*result), wrong.bytes, {{wrong.extents}, wrong.count}};
    };
    Trail mine;
    const auto shown = watched(step, mine);
    if (!shown) return "";
    const auto owners = owners_of(mine, *shown, false);
    const auto* const store = owners[wrong.index];
    if (!store) {
        const auto text = gap(mine, *shown, owners, wrong.index, false);
        return text.empty() ? text : text + idle_blocks(mine, owners);
    }
    Trail theirs;
    const auto there = solution ? watched(solution, theirs) : std::nullopt;
    const auto gaps = never_loaded(mine, there ? &theirs : nullptr);
    const auto missed = gaps.empty() && there ? loaded_twice(mine, theirs) : gaps;
    if (store->did != 's') return missed;
    const auto text =
        shown->text(wrong.index) + " is stored by " + mine.text(store->id) + " in " + mine.line(*store);
    const auto its_owners = there ? owners_of(theirs, *there, false) : Owners(owners.size());
    const auto* const its = its_owners[wrong.index];
    // In a square grid, or one whose sides are exchanged, too, it may be right.
    if (its && mine.grid(store->id) == theirs.grid(its->id) &&
        mine.grid(store->id)[0] != mine.grid(store->id)[1])
        if (const auto why = exchanged_blocks(mine, owners, theirs, its_owners); !why.empty())
            return text + why;
    const auto others = its ? loads(mine, *store, theirs, *its) : "";
    if (!others.empty()) return text + others;
    return missed.empty() ? text : missed;
}

}  // namespace kata
