#include "simt/session.hpp"

#include "limits.hpp"
#include "simt/block.hpp"
#include "simt/elsewhere.hpp"
#include "simt/grid.hpp"
#include "simt/probe.hpp"
#include "simt/text.hpp"

#include <algorithm>
#include <utility>

namespace simt {

Session* session = nullptr;
long long last_tick = 0;

int multiprocessors() {
    if (const auto there = elsewhere<multiprocessors>) return there();
    return session ? session->conditions.multiprocessors : kata::Conditions{}.multiprocessors;
}

Probe* listener() { return meter && session && session->conditions.metered ? meter() : nullptr; }

bool is_run_in_part(const Launch& launch) {
    constexpr std::uint64_t most_blocks = 1 << 14,
                            most_threads = 1 << 22;  // in a launch that is run whole
    return session->conditions.only_ends &&
           (blocks_of(launch) > most_blocks || threads_of(launch) > most_threads ||
            (session->conditions.even_of_few && blocks_of(launch) > blocks_at_ends));
}

void hold_to_bounds(std::uint64_t threads, std::uint64_t blocks, std::uint64_t) noexcept {
    if (session) session->blocks_promised = std::max<std::uint64_t>(blocks, 1);
    const kata::Extent block{blockDim.x, blockDim.y, blockDim.z}, grid{gridDim.x, gridDim.y, gridDim.z};
    if (block.volume() > threads)
        give_up(kata::Configuration{grid, block, running_block->dynamic.size()}.refused() +
                ": __launch_bounds__ promises the kernel no more than " + std::to_string(threads) +
                " threads in a block");
}

void hold_local(const char* name, std::size_t bytes, Site site) noexcept {
    constexpr std::uint64_t of_a_thread = 255, of_a_multiprocessor = 65536;
    if (!session) return;
    const auto threads = kata::Extent{blockDim.x, blockDim.y, blockDim.z}.volume();
    const auto blocks = session->blocks_promised;
    const auto most = std::min(of_a_thread, of_a_multiprocessor / (threads * blocks));
    if (bytes / 4 < most) return;  // at `most` words no register is left for anything else
    std::string text = "the local array \"" + std::string(name) + "\" in " + text_of(site) +
                       " does not fit into the registers of a thread: it has " + std::to_string(bytes / 4) +
                       " words of 4 bytes, and a thread has " + std::to_string(most) + " registers at most";
    if (most < of_a_thread)
        text += ", where " +
                (blocks > 1 ? std::to_string(blocks) + " blocks are promised, of " : "a block has ") +
                std::to_string(threads) + " threads";
    auto& spilled = session->spilled;
    if (std::find(spilled.begin(), spilled.end(), text) == spilled.end()) spilled.push_back(std::move(text));
}

}  // namespace simt
