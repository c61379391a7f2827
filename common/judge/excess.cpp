#include "judge/excess.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <utility>

namespace kata {

namespace {

double number(std::uint64_t count) { return static_cast<double>(count); }

std::string format(const char* how, auto... values) {
    char text[512];
    std::snprintf(text, sizeof text, how, values...);
    return text;
}

constexpr Quantity lines("lines"), work("work"), passes("shared_passes"), threads_a_block("threads_a_block"),
    makespan("makespan");

/// A step may need `factor` times what its solution needs plus `of_work` of the solution's work, or
/// `share_of_work` of that work if it is more; the latter is for steps that use shared memory where the
/// solution uses none. `always` is added.
struct Limit {
    Quantity quantity;
    double factor;
    const char* excess;  ///< what the step does, as a clause that the quantity alone shows
    double of_work = 0, share_of_work = 0, always = 0;
    double of_traffic = 0;     ///< bytes allowed per byte that the solution's kernels move in global memory
    bool only_beside = false;  ///< applies only if the solution's count is not 0
    /// Returns other numbers that help to understand this one, one per line.
    std::string (*beside)(const Counts& mine, const Counts& theirs) = nullptr;
};

std::string both(const char* what, double mine, double theirs) {
    return format("\n  %s: now %.0f, in the solution %.0f", what, mine, theirs);
}

std::uint64_t requests(const Counts& c) {
    return c.global_load.requests + c.global_store.requests + c.global_atomic.requests;
}
double lines_a_request(const Counts& c) { return lines(c) / number(std::max<std::uint64_t>(requests(c), 1)); }

/// True if there are too many lines although each request touches about as few as in the solution.
bool too_often(const Counts& mine, const Counts& theirs) {
    return lines_a_request(mine) < 2 * lines_a_request(theirs);
}

/// True if more than half of the passes are bank conflicts.
bool conflicts(const Counts& mine) { return 2 * number(mine.bank_conflicts) > passes(mine); }

bool has_small_blocks(const Counts& mine, const Counts& theirs) {
    return threads_a_block(mine) <= 16 && threads_a_block(theirs) > 16;
}

/// Reports wasted lanes, as in a step with one block per thread.
std::string lanes(const Counts& mine, const Counts& theirs) {
    std::string text;
    if (has_small_blocks(mine, theirs))
        text = format(
            "\n  its blocks have %.1f threads: a warp of 32 lanes belongs to one block, and costs the "
            "same with fewer",
            threads_a_block(mine));
    if (mine.active_lanes() <= 16 && 2 * mine.active_lanes() <= theirs.active_lanes())
        text += format("\n  on average %.1f of the 32 lanes of a warp are active, in the solution %.1f",
                       mine.active_lanes(), theirs.active_lanes());
    return text;
}

std::string of_lines(const Counts& mine, const Counts& theirs) {
    return (too_often(mine, theirs)
                ? both("loads, stores and atomics of its warps", number(requests(mine)),
                       number(requests(theirs)))
                : format(
                      "\n  lines that one load, store or atomic of a warp reaches: now %.1f, in the solution "
                      "%.1f",
                      lines_a_request(mine), lines_a_request(theirs))) +
           lanes(mine, theirs);
}

std::string of_passes(const Counts& mine, const Counts& theirs) {
    return conflicts(mine)
               ? format(
                     "\n  %.0f of these passes are bank conflicts: lanes of a warp access different words "
                     "of one bank",
                     number(mine.bank_conflicts))
               : lanes(mine, theirs);
}

std::string of_work(const Counts& mine, const Counts& theirs) {
    const auto constants = number(mine.constant_load.distinct) / sizeof(float);  // one step for each of them
    return (constants > work(mine) / 4 && constants > 2 * number(mine.constant_load.requests)
                ? format("\n  %.0f of these steps read constant memory: lanes of a warp read different "
                         "addresses, which "
                         "are served one after the other",
                         constants)
                : "") +
           lanes(mine, theirs);
}

std::string chains(const Counts& mine, const Counts& theirs) {
    return both("the longest chain of steps that wait for one another", number(mine.span),
                number(theirs.span)) +
           (mine.launches > 2 * theirs.launches ? both("launches, each of which waits for the one before",
                                                       number(mine.launches), number(theirs.launches))
                                                : "") +
           (2 * mine.threads < theirs.threads ? both("threads", number(mine.threads), number(theirs.threads))
                                              : "") +
           of_work(mine, theirs);
}

std::string blocks(const Counts& mine, const Counts& theirs) {
    return both("blocks", number(mine.blocks), number(theirs.blocks));
}

std::string threads(const Counts& mine, const Counts& theirs) {
    return both("threads in a block", threads_a_block(mine), threads_a_block(theirs)) +
           both("threads", number(mine.threads), number(theirs.threads));
}

static_assert(machine::multiprocessors == 16);  // as in the messages of the table

// The same for all chapters. A factor lies between what correct kernels of other styles need (the solutions
// of other steps, the variants and styles) and what the mistakes need. Sectors and additions have no limit of
// their own, because a kernel may trade one for the other, and the work includes both. A new limit applies to
// every chapter or to none. A chapter that needs more room says so in its rows.
const Limit limits[] = {
    // A run of four floats or sixteen characters per lane touches four times as many lines as neighboring
    // lanes do, and so do blocks of 8 x 8 threads. On an H100 the former is even faster for a histogram
    // (06_aggregated.contiguous). Eight floats touch eight times as many lines, and lanes in different rows
    // up to 32 times. If a solution needs almost no lines, a few more are harmless.
    {.quantity = "lines",
     .factor = 5,
     .excess = "its accesses to global memory are not coalesced: its warps reach too many 128-byte lines of "
               "global memory",
     .of_work = 1.0 / 64,
     .beside = of_lines},
    // A kernel that combines the results of blocks with atomics instead of a second launch has one per block,
    // and the solution has none. With an atomic per element, every step or two of the work has one.
    {.quantity = "atomics",
     .factor = 4,
     .excess = "it takes too many atomics on global memory",
     .of_work = 1.0 / 128},
    // One per result of a block, in a kernel without other atomics, is negligible.
    {.quantity = "swaps", .factor = 4, .excess = "it takes too many compare-and-swaps", .of_work = 1.0 / 128},
    // A sum that is kept in the output is stored once per term. A kernel that first sets the output to zero
    // stores twice, and blocks of half the size leave twice as many results.
    {.quantity = "stores",
     .factor = 4,
     .excess = "its warps store too often to global memory",
     .of_work = 1.0 / 64,
     .beside = lanes},
    // Exchanging x and z in a tile of 8³ takes 6.2 times the passes, but not much more work, because lines
    // dominate the work. A tree in which every warp has an active lane takes 4.2 times. Squares of
    // neighboring results, for which nvcc generates wide loads, take 2.9 times (gemm 04). A box blur that
    // uses a tile, where the solution has none, adds an eighth of the work. NVIDIA's reductions, which keep
    // the tree in shared memory where reduction 06 and 07 have none, add up to three tenths.
    {.quantity = "shared_passes",
     .factor = 3,
     .excess = "its warps take too many passes over the banks of shared memory",
     .of_work = 1.0 / 32,
     .share_of_work = 1.0 / 3,
     .beside = of_passes},
    // A reduction with blocks of a quarter of the threads has 3.8 times as many. One lane at a time takes 4.7
    // times and more. Shuffles that replace shared memory of the solution are steps, as those accesses are.
    {.quantity = "exchanges",
     .factor = 4,
     .excess =
         "its warps exchange values between lanes too often, by shuffles, votes and similar instructions",
     .of_work = 1.0 / 128,
     .only_beside = true},
    // Other styles need up to 1.4 times the steps, and tiles of a quarter of the size 2.5 times.
    {.quantity = "work",
     .factor = 3,
     .excess = "its warps execute too many steps, which are basic blocks, lines and passes over banks",
     .beside = of_work},
    // Threads that do more have longer chains. One thread, warp or block for everything takes 6 to 1000 times
    // as long. One working thread per block, with the others waiting, takes 5 times and more.
    {.quantity = "makespan",
     .factor = 4,
     .excess =
         "it takes too long on a model GPU of 16 multiprocessors, where time is counted in steps of a warp",
     .beside = chains},
    // Contention and the longest chain of the solution may take so long that they hide a bad distribution
    // over multiprocessors, and a step with little work may leave it all to one of them.
    {.quantity = "busiest_share",
     .factor = 4,
     .excess = "it takes too long on a model GPU of 16 multiprocessors: the busiest of them does too much of "
               "the work",
     .beside = blocks},
    // Idle threads do not wait and cost few steps, but the others have to do their share.
    {.quantity = "busiest_warp",
     .factor = 3,
     .excess = "the busiest warp of a block does too much of its work",
     .beside = threads},
    // A flag, a total or an identity is a few bytes. Results of blocks that the host is to combine are four
    // bytes per block, and sums of sections are copied back.
    {.quantity = "bytes_to_host",
     .factor = 4,
     .excess = "it copies too many bytes from the device to the host",
     .always = 32},
    // Room for constants and for a histogram of zeros.
    {.quantity = "bytes_to_device",
     .factor = 4,
     .excess = "it copies too many bytes from the host to the device",
     .always = 4096},
    // On a GPU a step may take at most twice the solution's time. In the time that the kernels move memory,
    // the host may move as much by copies and fills.
    {.quantity = "bytes_beside",
     .factor = 1,
     .excess = "too many bytes are moved by copies within the device and by cudaMemset",
     .always = 4096,
     .of_traffic = 1},
};

double factor_of(const Limit& limit, std::span<const Allowance> allowances) {
    double factor = limit.factor;
    for (const auto& allowance : allowances)
        if (allowance.quantity == limit.quantity) factor = allowance.factor;
    return factor;
}

double most_of(const Limit& limit, const Counts& theirs, std::span<const Allowance> allowances) {
    const double moved = 32 * number(theirs.global_load.transactions + theirs.global_store.transactions +
                                     theirs.global_atomic.transactions);
    return std::max(factor_of(limit, allowances) * limit.quantity(theirs) + limit.of_work * work(theirs),
                    limit.share_of_work * work(theirs)) +
           limit.always + limit.of_traffic * moved;
}

/// True for an excess that explains others, which are its consequences.
bool explains(const Limit& limit, const Counts& mine, const Counts& theirs) {
    return (limit.quantity == lines && !too_often(mine, theirs)) ||
           (limit.quantity == passes && conflicts(mine));
}

/// A block smaller than half a warp leaves that many lanes empty for as long as it runs. The work is counted
/// per warp and only doubles, so the limit on the work does not notice.
std::optional<Shortfall> mostly_empty_warps(const Counts& mine, const Counts& theirs) {
    if (mine.blocks == 0 || !has_small_blocks(mine, theirs)) return std::nullopt;
    return Shortfall{
        format("at least half of the lanes of its warps are empty: its blocks have %.1f threads, and a warp "
               "of 32 lanes belongs to one block\n  now %.1f threads in a block, in the solution %.1f, at "
               "least 17",
               threads_a_block(mine), threads_a_block(mine), threads_a_block(theirs)),
        0.5};
}

/// A line of the source, with its values of a counter.
struct Line {
    std::string name;
    std::uint64_t has = 0, requests = 0, passes = 0;
    const Place* most = nullptr;  ///< the place of the line that has most
};

/// If the atomics on one word take most of the time, returns the line of the last of them.
std::string in_turns(const Run& step, const Counts& theirs) {
    const auto& mine = counts_of(step);
    const auto last =
        std::max_element(step.seen.places.begin(), step.seen.places.end(),
                         [](const Place& a, const Place& b) { return a.on_one_word < b.on_one_word; });
    if (last == step.seen.places.end() || 2 * mine.contention <= mine.makespan) return "";
    return both("atomics on one word, one after the other", number(mine.contention),
                number(theirs.contention)) +
           "; the last of them in " + step.seen.line_of(*last);
}

/// Returns why this place needs so much, if its addresses show it.
std::string cause(const Place& place, const Counter& counter, const Counts& counts, std::uint64_t words) {
    constexpr std::uint64_t most_words = 48 * 1024 / 4;  // as many as fit into the shared memory of any block
    if (2 * place.again > place.requests && counter.place != &Place::passes)
        return format(
            "\n  %.0f of these times a thread accesses the element that it accessed the time before: if no "
            "other thread needs it in between, a register can hold it",
            number(place.again));
    const auto once_a_block = counts.blocks * words;
    if (counter.place == &Place::atomics && counts.launches == 1 && words > 0 && words <= most_words &&
        2 * once_a_block < place.atomics)
        return format(
            "\n  the atomics of the launch update %.0f words: if the threads of each block first combined "
            "their updates in shared memory, %.0f atomics would do",
            number(words), number(once_a_block));
    if (10 * place.requests_with_distance < 9 * place.requests || place.distance == 0) return "";
    const auto distance = static_cast<unsigned long long>(std::abs(place.distance));
    const bool of_lines = counter.place == &Place::lines;
    const bool of_sectors =
        counter.place == &Place::sectors_loaded || counter.place == &Place::sectors_stored;
    const auto fewest = std::max(1u, 32 * place.bytes / (of_lines ? 128 : 32));
    if ((of_lines || of_sectors) && distance > place.bytes)
        return format(
            "\n  the addresses of neighbouring threads are %llu bytes apart there: with neighbouring "
            "elements for neighbouring threads, a warp reaches about %u %s",
            distance, fewest,
            fewest == 1 ? (of_lines ? "line" : "sector") : (of_lines ? "lines" : "sectors"));
    const auto every = 32 / std::gcd(distance / 4, 32ull);
    if (counter.place == &Place::passes && place.bytes == 4 && distance % 4 == 0 && every < 32)
        return format(
            "\n  the addresses of neighbouring threads are %llu words apart there, so that %s access the "
            "same bank: with an odd distance, as in rows that are one word longer, no two of them do",
            distance / 4, every == 1 ? "they" : format("those %llu threads apart", every).c_str());
    return "";
}

}  // namespace

std::string where_most(const Run& run, const Counter& counter) {
    if (!counter.place) return "";
    std::vector<const Place*> most_first;
    std::uint64_t words = 0;
    for (const auto& place : run.seen.places) {
        words += place.words;
        if (place.*counter.place > 0) most_first.push_back(&place);
    }
    std::stable_sort(most_first.begin(), most_first.end(),
                     [&](const Place* a, const Place* b) { return a->*counter.place > b->*counter.place; });
    // A line may have several places, such as one per operand, and is reported with their sum. Places with
    // small values cannot change which line is first, and looking up the name of a line is slow.
    std::vector<Line> lines;
    for (const auto* place : most_first) {
        constexpr std::uint64_t little = 16;
        if (!lines.empty() && place->*counter.place < lines.front().has / little) break;
        const auto name = run.seen.line_of(*place);
        // The prologue of each kernel, where its threads begin, is not in the source of the step.
        if (name.starts_with("cuda.hpp:")) continue;
        auto line = std::find_if(lines.begin(), lines.end(), [&](const Line& l) { return l.name == name; });
        if (line == lines.end()) line = lines.insert(lines.end(), {.name = name, .most = place});
        line->has += place->*counter.place;
        line->requests += place->requests;
    }
    if (lines.empty()) return "";
    const auto& most = *std::max_element(lines.begin(), lines.end(),
                                         [](const Line& a, const Line& b) { return a.has < b.has; });
    const auto unit = counter.unit_of_place.empty() ? "" : " " + std::string(counter.unit_of_place);
    return "\n  most in " + most.name + ": " +
           (most.requests > 0
                ? format("%.0f%s, each time that a warp executes it %.1f", number(most.has), unit.c_str(),
                         number(most.has) / number(most.requests))
                : format("%.0f%s, one each time that a warp executes it", number(most.has), unit.c_str())) +
           cause(*most.most, counter, counts_of(run), words);
}

std::vector<Shortfall> worse_than_solution(const Run& step, const Counts& theirs,
                                           std::span<const Allowance> allowances, const Counts* compiled) {
    std::vector<std::pair<bool, Shortfall>> worse;  // true if it explains others
    const auto& mine = counts_of(step);
    for (const auto& limit : limits) {
        const double m = limit.quantity(mine), t = limit.quantity(theirs);
        if (limit.only_beside && t == 0) continue;
        const double most = most_of(limit, theirs, allowances);
        if (m <= most || (compiled && limit.quantity(*compiled) <= most)) continue;
        const int decimals = limit.quantity->per == Per::nothing ? limit.quantity->decimals : 0;
        const bool often = limit.quantity == lines && too_often(mine, theirs);
        worse.push_back(
            {explains(limit, mine, theirs),
             {std::string(
                  often ? "it reaches global memory too often: its warps reach too many 128-byte lines of it"
                        : limit.excess) +
                  format("\n  %s: now %.*f, in the solution %.*f, at most %.*f",
                         std::string(limit.quantity->name).c_str(), decimals, m, decimals, t, decimals,
                         most) +
                  where_most(step, *limit.quantity) +
                  (limit.quantity == makespan ? in_turns(step, theirs) : "") +
                  (limit.beside ? limit.beside(mine, theirs) : ""),
              most / m, limit.quantity == makespan}});
    }
    if (worse.empty())
        if (auto shortfall = mostly_empty_warps(mine, theirs))
            worse.push_back({false, std::move(*shortfall)});
    // Excesses that explain others come first, then those furthest beyond their limits.
    std::stable_sort(worse.begin(), worse.end(), [](const auto& a, const auto& b) {
        return std::pair(!a.first, a.second.share) < std::pair(!b.first, b.second.share);
    });
    std::vector<Shortfall> told;
    for (auto& [first, shortfall] : worse) told.push_back(std::move(shortfall));
    if (!told.empty() && mine.threads > 0 && mine.threads == mine.launches &&
        theirs.threads > theirs.launches)
        told.front().text = format("one thread%s does all the work: launched %.0f, the solution %.0f\n  ",
                                   mine.launches == 1 ? "" : " of each launch", number(mine.threads),
                                   number(theirs.threads)) +
                            told.front().text;
    return told;
}

Nearest nearest_limit(const Counts& step, const Counts& theirs, std::span<const Allowance> allowances) {
    Nearest nearest;
    for (const auto& limit : limits) {
        if (limit.only_beside && limit.quantity(theirs) == 0) continue;
        const double part = counters::ratio(limit.quantity(step), most_of(limit, theirs, allowances));
        if (part > nearest.part) nearest = {&*limit.quantity, part};
    }
    return nearest;
}

std::optional<std::string> remark_on_banks(const Run& step, const Counts& theirs) {
    constexpr double worth = 1.0 / 32;  // a share of the work: what other limits allow beyond the solution
    const auto& mine = counts_of(step);
    std::map<std::string, Line> lines;
    for (const auto& place : step.seen.places)
        if (place.passes > 0) {
            auto& line = lines[step.seen.line_of(place)];
            line.has += place.conflicts, line.passes += place.passes, line.requests += place.requests;
        }
    const auto worst = std::max_element(
        lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.second.has < b.second.has; });
    if (worst == lines.end()) return std::nullopt;
    const Line& line = worst->second;  // clang 14 cannot capture a structured binding
    // A solution with about as many has its reasons.
    if (number(line.has) <= worth * work(mine) || 2 * line.has < line.passes ||
        mine.bank_conflicts <= 2 * theirs.bank_conflicts)
        return std::nullopt;
    const auto each = [&](std::uint64_t count) { return number(count) / number(line.requests); };
    return format(
        "Right, but each time a warp executes %s, it takes %.1f passes over the banks of shared memory. "
        "Without bank conflicts %.1f would do: lanes of the warp access different words of one bank. These "
        "conflicts are %.0f %% of what the step's warps execute, and more than in the solution",
        worst->first.c_str(), each(line.passes), each(line.passes - line.has),
        100 * number(line.has) / work(mine));
}

double share_of_time(double share) { return std::clamp(std::round(10 * share) / 10, 0.1, 0.9); }

}  // namespace kata
