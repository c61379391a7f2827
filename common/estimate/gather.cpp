#include "estimate/gather.hpp"

#include "estimate/cache.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>

namespace estimate {

namespace {

constexpr std::uint64_t sector_bytes = 32, line_bytes = 128;

/// Consecutive blocks of the sample that represent all if their demands are equal. They are spread over the
/// grid, and both even and odd.
constexpr unsigned enough_alike = 3;

Chain& operator+=(Chain& a, const Chain& b) {
    a.basic_blocks += b.basic_blocks, a.divisions += b.divisions, a.requests += b.requests,
        a.passes += b.passes;
    a.shared_loads += b.shared_loads, a.l1_loads += b.l1_loads, a.misses += b.misses;
    a.atomics += b.atomics, a.barriers += b.barriers, a.updates += b.updates;
    return a;
}

/// Returns roughly the time of a warp, to tell which of two reaches a barrier later: latencies are of this
/// order on any GPU.
double roughly(const Chain& c) {
    return 5 * c.basic_blocks + c.requests + c.passes + 25 * (c.shared_loads + c.l1_loads) + 300 * c.misses;
}

/// Returns the time of a block alone, just as roughly.
double roughly(const OfBlock& b) {
    return roughly(b.chain) + b.asked.requests + b.asked.basic_blocks + b.asked.lines + b.asked.passes;
}

}  // namespace

unsigned resident(const Device& device, unsigned threads, double shared_bytes) {
    constexpr double reserved = 1024;  // bytes of shared memory per block, used by the system
    const double warps = (threads + 31) / 32, of_all = device.at("threads_a_multiprocessor") / 32;
    const double blocks = std::min({of_all / warps, device.at("blocks_a_multiprocessor"),
                                    device.at("shared_a_multiprocessor") / (shared_bytes + reserved)});
    return std::max(1u, static_cast<unsigned>(blocks));
}

void Gatherer::launch_begins(const kata::Scene& scene) {
    end_launch();
    scene_ = scene;
    launch_.emplace();
    launch_->blocks = 1.0 * scene.grid[0] * scene.grid[1] * scene.grid[2];
    launch_->threads = scene.block[0] * scene.block[1] * scene.block[2];
    arrays_.clear();
    shared_arrays_.clear();
    last_.reset();
    alike_ = 0;
    updated_.clear();
    of_code_.clear();
    name_of_.clear();
    line_of_.clear();
    first_of_line_.clear();
}

std::uint32_t Gatherer::array_of(std::uintptr_t address) {
    const auto holds = [address](const Array& a) {
        return address >= a.of.begin && address < a.of.begin + a.of.bytes;
    };
    if (last_array_ < arrays_.size() && holds(arrays_[last_array_])) return last_array_;
    const auto found = std::find_if(arrays_.begin(), arrays_.end(), holds);
    last_array_ = static_cast<std::uint32_t>(found - arrays_.begin());
    if (found == arrays_.end()) {
        arrays_.push_back({scene_.array_at(address), {}});
        arrays_.back().flow.bytes = static_cast<double>(arrays_.back().of.bytes);
    }
    return last_array_;
}

void Gatherer::request(const kata::Request& r) {
    if (!launch_) return;
    if (in_block_ && r.block != block_) end_block();
    in_block_ = true;
    block_ = r.block;
    if (r.warp >= warps_.size()) warps_.resize(r.warp + 1);
    Event e{Kind::basic_block,          1, 0, r.code, r.barriers, 0, 0, sectors_.size(), 0,
            r.ends - r.begins > r.steps};
    const std::string_view memory = r.memory, did = r.did;
    const auto lane = static_cast<unsigned>(std::countr_zero(r.lanes));
    if (memory == "global") {
        e.kind = did == "load" ? Kind::load : did == "store" ? Kind::store : Kind::atomic;
        e.array = array_of(r.addresses[lane]);
        // Counted from the array's first line, so that an estimate does not depend on addresses.
        const auto begin = arrays_[e.array].of.begin / line_bytes * line_bytes;
        const auto of_array = std::uint64_t{e.array} << 40;
        for (unsigned l = 0; l < 32; ++l)
            if (r.lanes >> l & 1)
                for (auto s = (r.addresses[l] - begin) / sector_bytes;
                     s <= (r.addresses[l] - begin + r.bytes - 1) / sector_bytes; ++s)
                    sectors_.push_back(of_array + s);
        const auto first = sectors_.begin() + static_cast<std::ptrdiff_t>(e.first_sector);
        if (e.kind == Kind::atomic) {
            std::array<std::uintptr_t, 32> asked{};
            unsigned count = 0;
            for (unsigned l = 0; l < 32; ++l)
                if (r.lanes >> l & 1) asked[count++] = r.addresses[l];
            std::sort(asked.begin(), asked.begin() + count);
            std::map<std::uintptr_t, std::map<std::uintptr_t, unsigned>> turns;  // the keys: line, sector
            for (unsigned i = 0, next = 0; i < count; i = next) {
                while (next < count && asked[next] == asked[i]) ++next;
                auto& of_sector = turns[asked[i] / line_bytes][asked[i] / sector_bytes];
                of_sector = std::max(of_sector, next - i);
            }
            for (unsigned i = 0; i < count; ++i)
                updated_[asked[i] / line_bytes].words |= 1u << asked[i] / 4 % 32;
            for (const auto& [line, sectors] : turns) {
                unsigned sum = 0;
                for (const auto& [sector, most] : sectors) sum += most;
                e.turns = static_cast<std::uint16_t>(std::max<unsigned>(e.turns, sum));
                auto& of_line = updated_[line];
                if (of_line.turns > 0 && of_line.block != r.block) of_line.shared_by_blocks = true;
                if (of_line.block != r.block) of_line.of_block = 0;
                of_line.block = r.block;
                of_line.turns += sum;
                of_line.of_block += sum;
                launch_->updates += sum;
                of_code_[r.code].asked.updates += sum;
                auto& codes = of_line.of_codes;
                const auto mine = std::find_if(codes.begin(), codes.end(),
                                               [&](const auto& code) { return code.first == r.code; });
                if (mine == codes.end())
                    codes.emplace_back(r.code, sum);
                else
                    mine->second += sum;
                launch_->updates_of_one = std::max(launch_->updates_of_one, of_line.of_block);
            }
        }
        std::sort(first, sectors_.end());
        sectors_.erase(std::unique(first, sectors_.end()), sectors_.end());
        e.sectors = static_cast<std::uint32_t>(sectors_.size() - e.first_sector);
        e.passes = static_cast<std::uint16_t>(std::max<std::uint64_t>(1, r.steps));
    } else if (memory == "shared") {
        e.kind = did == "load" ? Kind::shared_load : Kind::shared;
        for (unsigned l = 0; l < 32; ++l)
            e.words = (e.words ^ (r.lanes >> l & 1 ? r.addresses[l] : 0)) * 0x9E3779B97F4A7C15;
        const auto& c = r.counts;
        e.passes = static_cast<std::uint16_t>(c.shared_load.transactions + c.shared_store.transactions +
                                              c.shared_atomic.transactions);
        if (did == "atomic") {
            e.kind = Kind::shared_atomic;
            std::array<std::uint16_t, 32> lanes{};  // on each bank
            for (unsigned l = 0; l < 32; ++l)
                if (r.lanes >> l & 1) ++lanes[r.addresses[l] / 4 % 32];
            e.turns = *std::max_element(lanes.begin(), lanes.end());
        }
        if (launch_->looked_at == 0) {
            const auto array = scene_.array_at(r.addresses[lane]);
            shared_arrays_[array.name] = static_cast<double>(array.bytes);
        }
    } else if (memory == "constant") {
        e.kind = Kind::constant;
        e.passes = static_cast<std::uint16_t>(std::max<std::uint64_t>(1, r.steps));
    }
    warps_[r.warp].push_back(e);
}

/// Looks up the source lines of the block's instructions that are not known yet.
void Gatherer::read_lines() {
    std::vector<std::uint32_t> fresh, of_requests;
    for (const auto& warp : warps_)
        for (const auto& e : warp)
            if (line_of_.try_emplace(e.code).second)
                (e.kind == Kind::basic_block ? fresh : of_requests).push_back(e.code);
    const auto basic_blocks = fresh.size();
    fresh.insert(fresh.end(), of_requests.begin(), of_requests.end());
    if (fresh.empty() || !scene_.lines_of) return;
    const auto told = scene_.lines_of(fresh);
    for (std::size_t i = 0; i < fresh.size(); ++i) {
        name_of_[fresh[i]] = told[i];
        const auto colon = told[i].rfind(':');
        if (colon == std::string::npos) continue;
        const auto file = told[i].substr(0, colon);
        const auto [found, is_new] = lines_in_.try_emplace(file);
        if (is_new) found->second = lines_in(scene_.text_of(file));
        const auto line = std::strtoul(told[i].c_str() + colon + 1, nullptr, 10);
        if (line < 1 || line > found->second.size()) continue;
        auto& said = line_of_[fresh[i]] = found->second[line - 1];
        if (i >= basic_blocks) continue;
        // Divisions are attributed to the first basic block of a line.
        const auto [first, is_first] = first_of_line_.try_emplace(told[i], fresh[i]);
        if (is_first) continue;
        auto& later = first->second < fresh[i] ? said : line_of_[first->second];
        later.divisions = 0;
        first->second = std::min(first->second, fresh[i]);
    }
}

/// Finds the sectors that miss the block's share of the L1 cache, when its warps alternate request by
/// request.
void Gatherer::ask_cache(std::vector<std::vector<bool>>& misses) {
    constexpr double of_both =
        256 * 1024;  // an H100's L1 cache and shared memory are one (NVIDIA's tuning guide)
    const auto blocks = resident(device_, launch_->threads, launch_->shared_bytes);
    Cache cache(static_cast<std::size_t>(std::max(8192.0, of_both / blocks - launch_->shared_bytes)));
    std::vector<std::size_t> next(warps_.size());
    for (std::uint32_t barriers = 0;; ++barriers) {
        bool any_later = false;
        for (bool any = true; any;) {
            any = false;
            for (std::size_t w = 0; w < warps_.size(); ++w) {
                auto& at = next[w];
                while (at < warps_[w].size() && warps_[w][at].kind != Kind::load &&
                       warps_[w][at].barriers <= barriers)
                    ++at;
                if (at == warps_[w].size()) continue;
                if (warps_[w][at].barriers > barriers) {
                    any_later = true;
                    continue;
                }
                const auto& e = warps_[w][at];
                bool missed = false;
                auto& flow = arrays_[e.array].flow;
                for (std::uint32_t s = 0; s < e.sectors; ++s)
                    if (!cache.ask(sectors_[e.first_sector + s])) {
                        missed = true;
                        ++flow.loaded;
                        ++of_code_[e.code].loaded[e.array];
                    }
                misses[w][at++] = missed;
                any = true;
            }
        }
        if (!any_later) break;
    }
}

/// Sums over the blocks so far, without their chains.
OfBlock Gatherer::sums() const {
    const auto& d = *launch_;
    OfBlock sum;
    auto& asked = sum.asked;
    asked.requests = d.requests, asked.addresses = d.addresses, asked.basic_blocks = d.basic_blocks;
    asked.comparisons = d.comparisons, asked.operands = d.operands, asked.divisions = d.divisions;
    asked.lines = d.lines, asked.passes = d.passes;
    for (const auto& a : arrays_) sum.sectors += a.flow.loaded + a.flow.stored + a.flow.updated;
    return sum;
}

void Gatherer::end_block() {
    in_block_ = false;
    auto& launch = *launch_;
    const auto before = sums();
    if (launch.looked_at++ == 0)
        for (const auto& [name, bytes] : shared_arrays_) launch.shared_bytes += bytes;
    read_lines();
    std::vector<std::vector<bool>> misses;
    for (const auto& warp : warps_) misses.emplace_back(warp.size());
    ask_cache(misses);

    std::vector<Chain> chains(warps_.size());
    std::vector<std::size_t> next(warps_.size());
    Chain block;
    for (std::uint32_t barriers = 0;; ++barriers) {
        bool any_later = false;
        double turns = 0;
        for (std::size_t w = 0; w < warps_.size(); ++w) {
            auto chain = block;
            enum { nothing, shared, l1, miss } awaited = nothing;
            // Consecutive loads are in flight together until something needs them: a store, an atomic or a
            // barrier, or the end of the rounds that nvcc unrolls together.
            std::map<std::uint32_t, unsigned> rounds;  // for each basic block, its rounds since the last wait
            const auto wait = [&] {
                chain.shared_loads += awaited == shared;
                chain.l1_loads += awaited == l1;
                chain.misses += awaited == miss;
                awaited = nothing;
                rounds.clear();
            };
            // In code without jumps, the compiler keeps loaded values until something is written.
            std::set<std::uint64_t> kept;
            std::optional<Chain> link;  // the part after the warp waited for another block
            auto& at = next[w];
            for (; at < warps_[w].size() && warps_[w][at].barriers <= barriers; ++at) {
                const auto& e = warps_[w][at];
                if (e.waited) link = Chain{};
                const auto& line = line_of_.at(e.code);
                auto& own = of_code_[e.code];
                if (e.kind == Kind::basic_block) {
                    chain.divisions += line.divisions;
                    launch.divisions += line.divisions;
                    own.asked.divisions += line.divisions;
                    if (line.predicated) ++launch.comparisons, ++own.asked.comparisons, ++chain.requests;
                    if (line.unrolled) {
                        ++launch.unrolled;
                        continue;
                    }
                    kept.clear();
                    if (!line.predicated)
                        ++launch.basic_blocks, ++own.asked.basic_blocks, ++chain.basic_blocks;
                    if (line.rounds > 0 && ++rounds[e.code] > line.rounds) {
                        wait();
                        rounds[e.code] = 1;
                    }
                    continue;
                }
                if (e.kind == Kind::shared_load && line.unrolled && !kept.insert(e.words).second) {
                    launch.merged += e.passes;
                    continue;
                }
                if (e.kind != Kind::shared_load && e.kind != Kind::load && e.kind != Kind::constant)
                    kept.clear();
                const bool is_operand = e.kind == Kind::constant && line.unrolled;
                (is_operand ? launch.operands : launch.requests) += 1;
                (is_operand ? own.asked.operands : own.asked.requests) += 1;
                launch.addresses += !line.unrolled;
                own.asked.addresses += !line.unrolled;
                ++chain.requests;
                const unsigned passes =
                    e.kind == Kind::shared_atomic && !line.adds_a_number ? e.turns : e.passes;
                chain.passes += passes - 1;
                const auto awaits = [&](auto what) { awaited = std::max(awaited, what); };
                switch (e.kind) {
                    case Kind::load:
                        launch.lines += passes;
                        own.asked.lines += passes;
                        awaits(misses[w][at] ? miss : l1);
                        if (link) ++link->misses;
                        break;
                    case Kind::store:
                        launch.lines += passes;
                        own.asked.lines += passes;
                        own.written[e.array] += e.sectors;
                        arrays_[e.array].flow.stored += e.sectors;
                        wait();
                        break;
                    case Kind::atomic:
                        launch.lines += passes;
                        own.asked.lines += passes;
                        own.written[e.array] += e.sectors;
                        arrays_[e.array].flow.updated += e.sectors;
                        turns += e.turns;
                        wait();
                        if (!link) break;
                        ++link->atomics;
                        if (e.waited) break;
                        ++launch.links;
                        launch.link += *link;
                        link.reset();
                        break;
                    case Kind::shared_load:
                        launch.passes += passes;
                        own.asked.passes += passes;
                        awaits(shared);
                        break;
                    case Kind::shared_atomic:
                    case Kind::shared:
                        launch.passes += passes;
                        own.asked.passes += passes;
                        wait();
                        break;
                    case Kind::constant:
                        launch.passes += passes - 1;
                        own.asked.passes += passes - 1;
                        break;
                    case Kind::basic_block:
                        break;
                }
            }
            any_later = any_later || at < warps_[w].size();
            wait();
            chains[w] = chain;
        }
        block = *std::max_element(chains.begin(), chains.end(),
                                  [](const Chain& a, const Chain& b) { return roughly(a) < roughly(b); });
        block.updates += turns;
        if (!any_later) break;
        ++block.barriers;
    }
    launch.chain += block;
    auto mine = sums();
    auto& asked = mine.asked;
    asked.requests -= before.asked.requests, asked.addresses -= before.asked.addresses;
    asked.basic_blocks -= before.asked.basic_blocks, asked.comparisons -= before.asked.comparisons;
    asked.operands -= before.asked.operands, asked.divisions -= before.asked.divisions;
    asked.lines -= before.asked.lines, asked.passes -= before.asked.passes;
    mine.sectors -= before.sectors;
    mine.chain = block;
    if (launch.looked_at == 1 || roughly(launch.longest) < roughly(mine)) launch.longest = mine;
    alike_ = last_ == mine ? alike_ + 1 : 1;
    last_ = mine;
    warps_.clear();
    sectors_.clear();
}

bool Gatherer::has_enough() {
    if (in_block_) end_block();
    return alike_ >= enough_alike;
}

bool Gatherer::sample_ends() {
    if (!ends_ || !launch_) return false;
    end_sample();
    sample_ = launch_;
    return true;
}

/// Adds the updates of the blocks so far to the sums.
void Gatherer::end_sample() {
    if (in_block_) end_block();
    auto& launch = *launch_;
    for (const auto& a : arrays_) launch.arrays[a.of.name] = a.flow;
    std::set<std::uint32_t> own;
    for (const auto& [line, of_line] : updated_) {
        if (of_line.shared_by_blocks) {
            launch.updates_of_all = std::max(launch.updates_of_all, of_line.turns);
            continue;
        }
        launch.own_updates += of_line.turns;
        launch.own_words += std::popcount(of_line.words);
        own.insert(array_of(line * line_bytes));
    }
    for (const auto array : own) launch.own_bytes += arrays_[array].flow.bytes;
    share_out();
}

void Gatherer::end_launch() {
    if (!launch_) return;
    if (sample_) {
        if (in_block_) end_block();
        sample_->longest_is_beside = roughly(sample_->longest) < roughly(launch_->longest);
        sample_->longest = launch_->longest;
        launch_ = std::exchange(sample_, std::nullopt);
    } else {
        end_sample();
    }
    done_.push_back(std::move(*launch_));
    launch_.reset();
}

/// Divides the launch's demand among the lines of its source.
void Gatherer::share_out() {
    const auto most = std::max_element(updated_.begin(), updated_.end(), [](const auto& a, const auto& b) {
        return std::pair(a.second.turns, b.first) <
               std::pair(b.second.turns, a.first);  // the first of equals
    });
    if (most != updated_.end())
        for (const auto& [code, turns] : most->second.of_codes) of_code_[code].asked.updates_of_most += turns;
    for (const auto& [code, own] : of_code_) {
        const auto name = name_of_.find(code);
        if (name == name_of_.end()) continue;
        auto& line = launch_->lines_of_source[name->second];
        const auto& asked = own.asked;
        line.requests += asked.requests, line.addresses += asked.addresses;
        line.basic_blocks += asked.basic_blocks, line.divisions += asked.divisions;
        line.comparisons += asked.comparisons, line.operands += asked.operands;
        line.lines += asked.lines, line.passes += asked.passes;
        line.updates += asked.updates, line.updates_of_most += asked.updates_of_most;
        for (const auto& [array, sectors] : own.loaded) line.loaded[arrays_[array].of.name] += sectors;
        for (const auto& [array, sectors] : own.written) line.written[arrays_[array].of.name] += sectors;
    }
}

std::vector<Demand> Gatherer::demands() {
    end_launch();
    return std::move(done_);
}

}  // namespace estimate
