#include "estimate/estimate.hpp"

#include "estimate/gather.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace estimate {

namespace {

constexpr double sector = 32;  // bytes

/// Instructions that the meter does not see: one per request for its address, and per basic block a
/// comparison and a jump. nvcc decides how many there really are.
constexpr double instructions_a_basic_block = 2;
/// One instruction loads two adjacent constants.
constexpr double instructions_an_operand = 0.5;

/// A block that takes this many times as long as the others differs from them; less is noise.
constexpr double unequal = 2;
/// The factor by which work may be more unequal than in the solution, as in the tests of a step.
constexpr double uneven = 4;

struct Traffic {
    double l2 = 0, loaded = 0, stored = 0;  // bytes, of all blocks
    double from_dram = 0;                   // share of L1 misses, 0 to 1
};

/// L1 misses go to L2. DRAM transfers the accessed part of an array once: L2 keeps it for the next block.
Traffic traffic_of(const Demand& d, double scale) {
    Traffic t;
    double missed = 0;
    for (const auto& [name, flow] : d.arrays) {
        const double loaded = flow.loaded * scale * sector,
                     written = (flow.stored + flow.updated) * scale * sector;
        t.l2 += loaded + written;
        missed += loaded;
        t.loaded += std::min(loaded, flow.bytes);
        t.stored += std::min(written, flow.bytes);
    }
    t.from_dram = missed > 0 ? t.loaded / missed : 0;
    return t;
}

/// Returns the cycles of a chain that nothing else delays.
double cycles_of(const Chain& c, const Device& on, double threads, double from_dram) {
    const double miss = from_dram * on.at("latency_dram_load") + (1 - from_dram) * on.at("latency_l2_load");
    return c.basic_blocks * on.at("latency_float_fma") + c.divisions * on.at("latency_int_divide") +
           c.requests + c.passes + c.shared_loads * on.at("latency_shared_load") +
           c.l1_loads * on.at("latency_l1_load") + c.misses * miss +
           c.atomics * on.at("latency_global_atomic") + c.barriers * on.at("barrier", threads);
}

/// Returns the cycles that a multiprocessor takes to issue a launch or one line of it, without the
/// arithmetic.
double cycles_to_issue(const auto& of, const Device& on) {
    return (of.requests + of.addresses + of.comparisons + of.operands * instructions_an_operand +
            of.basic_blocks * instructions_a_basic_block) /
               on.at("rate_float_fma") +
           of.divisions / on.at("rate_int_divide");
}

/// Returns each source line's share in the demand for the bounding resource, 0 to 1; nothing if lines have no
/// share.
std::map<std::string, double> parts_of(const Demand& d, const Device& on, const std::string& bound,
                                       double fused) {
    // `asked` returns the same unit as `all`.
    const auto divided = [&](double all, auto asked) {
        std::map<std::string, double> parts;
        for (const auto& [line, of_line] : d.lines_of_source)
            if (const double part = asked(of_line); part > 0 && all > 0) parts[line] = part / all;
        return parts;
    };
    const double scale = d.blocks / d.looked_at;
    if (bound == "issue")
        return divided(cycles_to_issue(d, on) + fused / scale / on.at("rate_float_fma"),
                       [&](const Asked& a) { return cycles_to_issue(a, on); });
    if (bound == "L1 and shared memory")
        return divided(d.lines + d.passes, [](const Asked& a) { return a.lines + a.passes; });
    if (bound == "atomics") return divided(d.updates, [](const Asked& a) { return a.updates; });
    if (bound == "atomics on one line") {
        double all = 0;
        for (const auto& [line, of_line] : d.lines_of_source) all += of_line.updates_of_most;
        return divided(all, [](const Asked& a) { return a.updates_of_most; });
    }
    // DRAM transfers less of an array than L2 does; each line has the same share of both.
    const bool is_dram = bound == "DRAM";
    if (!is_dram && bound != "L2") return {};
    const double asking = std::min(d.blocks, on.at("multiprocessors"));
    const auto seconds = [&](const std::string& array, double loaded, double written) {
        const auto& flow = d.arrays.at(array);
        const double all_loaded = flow.loaded * scale * sector,
                     all_written = (flow.stored + flow.updated) * scale * sector;
        if (!is_dram) return (loaded + written) * scale * sector / on.most("l2_read", asking);
        const auto of = [](double part, double all, double most) {
            return all > 0 ? part / all * std::min(all, most) : 0;
        };
        return of(loaded * scale * sector, all_loaded, flow.bytes) / on.most("dram_read", asking) +
               of(written * scale * sector, all_written, flow.bytes) / on.most("dram_write");
    };
    double all = 0;
    for (const auto& [array, flow] : d.arrays) all += seconds(array, flow.loaded, flow.stored + flow.updated);
    return divided(all, [&](const Asked& a) {
        double sum = 0;
        for (const auto& [array, sectors] : a.loaded) sum += seconds(array, sectors, 0);
        for (const auto& [array, sectors] : a.written) sum += seconds(array, 0, sectors);
        return sum;
    });
}

void longest_first(std::vector<OfLine>& lines) {
    std::stable_sort(lines.begin(), lines.end(),
                     [](const OfLine& a, const OfLine& b) { return a.seconds > b.seconds; });
}

/// Returns the seconds for all turns of atomics. Adjacent lines are serialized, too: words updated by one
/// block alone are as fast as updates of as many words as the blocks in flight update together.
double seconds_of_atomics(const Demand& d, const Device& on, double scale, double blocks_in_flight) {
    constexpr double bytes_a_word = 4, words_a_turn = 8;
    const double of_block = std::max(d.own_words / d.looked_at, d.own_bytes / bytes_a_word / d.blocks),
                 words = std::max(1.0, of_block * blocks_in_flight);
    const double turns_a_second = on.at("global_atomic", words) / std::min(words_a_turn, words);
    return std::max(d.updates / on.at("global_atomic_own_line", 1), d.own_updates / turns_a_second) * scale;
}

/// Returns the seconds between the ends of two empty blocks that run one after the other in the same place:
/// the smallest that agrees with the measured rate of empty blocks of any size.
double turnaround(const Device& on) {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& row : on.rows)
        if (row.quantity == "blocks")
            least = std::min(
                least, resident(on, static_cast<unsigned>(row.x), 0) * on.at("multiprocessors") / row.value);
    return least;
}

/// Returns the seconds between the ends of blocks on a multiprocessor with this many resident blocks, each of
/// which waits and then occupies the multiprocessor: mean value analysis of a closed network of one queue and
/// a delay. An arriving block meets the average number of others.
double between_ends(double blocks, double waits, double takes) {
    double before = 0, rate = 0;
    for (int n = 1; n <= static_cast<int>(blocks); ++n) {
        const double stays = takes * (1 + before);
        rate = n / (waits + stays);
        before = rate * stays;
    }
    return 1 / rate;
}

/// Returns the seconds of the longest block, alone on its multiprocessor. `arithmetic`: instructions of the
/// whole launch.
double seconds_of_longest(const Demand& d, const Device& on, double arithmetic, double from_dram) {
    const auto& [asked, sectors, chain] = d.longest;
    // Assumes arithmetic in proportion to requests.
    const double part =
        d.requests > 0 ? std::min(1.0, asked.requests * d.looked_at / d.requests / d.blocks) : 0;
    const double issuing = cycles_to_issue(asked, on) + arithmetic * part / on.at("rate_float_fma"),
                 passed = (asked.lines + asked.passes) * on.at("shared_load", 32) / 32;
    return cycles_of(chain, on, d.threads, from_dram) / on.at("clock") +
           std::max(std::max(issuing, passed) / on.at("clock"), sectors * sector / on.most("l2_read", 1)) +
           chain.updates / on.at("global_atomic", 1);
}

}  // namespace

Estimate estimate(const Demand& d, const Device& on, double operations) {
    Estimate result;
    result.seconds = on.at("launch");
    if (d.looked_at == 0) return result;
    const double scale = d.blocks / d.looked_at;
    const double clock = on.at("clock"), multiprocessors = on.at("multiprocessors");
    // Blocks are not divided: the busiest multiprocessor has at least this many.
    const double of_busiest = std::ceil(d.blocks / multiprocessors);
    const double busiest = of_busiest / d.looked_at;  // turns the sums in d into this multiprocessor's
    const auto need = [&](const char* what, double seconds) { result.needs.push_back({what, seconds}); };
    const auto traffic = traffic_of(d, scale);

    const double fused = operations / 2 / 32;  // instructions of warps, of the whole launch
    const double issuing =
        (cycles_to_issue(d, on) * busiest + fused / d.blocks * of_busiest / on.at("rate_float_fma")) / clock;
    need("issue", issuing);
    // A line of the L1 cache takes a pass, like a pass over the banks of shared memory. Measured with 32
    // words of one bank per request, so that the request itself is hidden.
    const double passed = (d.lines + d.passes) * on.at("shared_load", 32) / 32 * busiest;  // cycles
    need("L1 and shared memory", passed / clock);
    const double asking = std::min(d.blocks, multiprocessors);
    need("L2", traffic.l2 / on.most("l2_read", asking));
    need("DRAM", traffic.loaded / on.most("dram_read", asking) + traffic.stored / on.most("dram_write"));
    need("atomics on one line",
         std::max(d.updates_of_all * scale, d.updates_of_one) / on.at("global_atomic", 1));
    need("starting blocks", d.blocks / on.at("blocks", d.threads));

    // A block alone: its longest warp, or the throughput of all its warps.
    const double chain = cycles_of(d.chain, on, d.threads, traffic.from_dram) / d.looked_at / clock +
                         d.chain.updates / d.looked_at / on.at("global_atomic", 1),
                 waits = turnaround(on) + chain;
    const double through = std::max(
        {issuing / of_busiest, passed / of_busiest / clock, traffic.l2 / d.blocks / on.most("l2_read", 1)});
    const double at_once = std::min<double>(of_busiest, resident(on, d.threads, d.shared_bytes));
    need("latency", (waits + through) * of_busiest / at_once);
    need("atomics", seconds_of_atomics(d, on, scale, std::min(d.blocks, at_once * multiprocessors)));
    // A launch does not end before its longest block, however little the others do.
    const double longest = seconds_of_longest(d, on, fused, traffic.from_dram);
    if (longest > unequal * (waits + through)) need("one block", longest);
    // Any work is large compared with blocks that do nothing.
    if (d.longest_is_beside) result.times_an_end = longest / std::max(chain + through, 1 / clock);
    if (d.links > 0)
        need("blocks one after the other",
             cycles_of(d.link, on, d.threads, 0) / d.links / clock * (d.blocks - 1));

    std::stable_sort(result.needs.begin(), result.needs.end(),
                     [](const Need& a, const Need& b) { return a.seconds > b.seconds; });
    const auto& [bound, most] = result.needs.front();
    const double all = std::max(most, between_ends(at_once, waits, through) * of_busiest);
    result.seconds += all;
    double left = 1;
    for (const auto& [line, part] : parts_of(d, on, bound, fused)) {
        result.lines.push_back({line, bound, part * all});
        left -= part;
    }
    if (left < 1 && left > 1e-6) result.lines.push_back({"", bound, left * all});
    longest_first(result.lines);
    return result;
}

std::optional<std::string> unequal_ends(const Estimate& estimate) {
    double times = estimate.times_an_end;
    for (const auto& launch : estimate.launches) times = std::max(times, launch.times_an_end);
    if (times <= uneven) return std::nullopt;
    return "the first or the last block of the grid takes " + std::to_string(std::lround(times)) +
           " times as long as the examined blocks between them, and it is not known how many are like it";
}

std::optional<std::string> unequal_blocks(const kata::Counts& step, const kata::Counts& solution) {
    namespace machine = kata::machine;
    // A step that does no work is reported elsewhere.
    if (step.work == 0 || step.launches == 0 || solution.work == 0 || solution.launches == 0)
        return std::nullopt;
    const auto share = [](const kata::Counts& c) {
        return machine::issued_together * static_cast<double>(c.busiest) / static_cast<double>(c.work);
    };
    // The share divided by that of equal blocks.
    const auto unlike_equal_blocks = [&](const kata::Counts& c) {
        const double blocks = static_cast<double>(c.blocks) / static_cast<double>(c.launches);
        return share(c) * blocks / std::ceil(blocks / machine::multiprocessors);
    };
    if (unlike_equal_blocks(step) <= uneven * std::max(1.0, unlike_equal_blocks(solution)))
        return std::nullopt;
    const auto percent = [](double part) { return std::to_string(std::lround(100 * part)) + " %"; };
    return "its blocks have very unequal work, so that a sample does not represent all: if all are counted, "
           "the busiest of " +
           std::to_string(machine::multiprocessors) + " multiprocessors does " + percent(share(step)) +
           " of the work, in the solution " + percent(share(solution));
}

Estimate estimate(const std::vector<Demand>& launches, const Device& on, double operations) {
    const auto work = [](const Demand& d) {
        return d.looked_at > 0 ? (d.requests + d.basic_blocks) * d.blocks / d.looked_at : 0;
    };
    double all = 0;
    for (const auto& d : launches) all += work(d);
    Estimate sum;
    for (const auto& d : launches) {
        const auto one = estimate(d, on, all > 0 ? operations * work(d) / all : 0);
        sum.seconds += one.seconds;
        const auto add = [&sum](const std::string& what, double seconds) {
            const auto found = std::find_if(sum.needs.begin(), sum.needs.end(),
                                            [&](const Need& n) { return n.what == what; });
            if (found == sum.needs.end())
                sum.needs.push_back({what, seconds});
            else
                found->seconds += seconds;
        };
        for (const auto& need : one.needs) add(need.what, need.seconds);
        for (const auto& of_line : one.lines) {
            const auto found = std::find_if(sum.lines.begin(), sum.lines.end(), [&](const OfLine& other) {
                return other.line == of_line.line && other.what == of_line.what;
            });
            if (found == sum.lines.end())
                sum.lines.push_back(of_line);
            else
                found->seconds += of_line.seconds;
        }
        sum.launches.push_back(one);
    }
    std::stable_sort(sum.needs.begin(), sum.needs.end(),
                     [](const Need& a, const Need& b) { return a.seconds > b.seconds; });
    longest_first(sum.lines);
    return sum;
}

}  // namespace estimate
