#include "meter/chains.hpp"

#include "simt/block.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace meter {

std::uint64_t waited_for_copies(std::vector<Chain>& warps) {
    const bool others_read = std::any_of(warps.begin(), warps.end(),
                                         [](const Chain& warp) { return warp.reads_ && !warp.copies_; });
    std::uint64_t bytes = 0;
    for (auto& warp : warps) {
        if (warp.reads_ || !others_read) bytes += warp.late_;
        warp.late_ = 0;
        warp.reads_ = warp.copies_ = false;
    }
    return bytes;
}

namespace {

std::uint32_t lanes_of(Group group) {
    std::uint32_t lanes = 0;
    for (const auto* e : group) lanes |= 1u << e->lane;
    return lanes;
}

}  // namespace

void Chain::begin_polling(Group group) { polling_ = lanes_of(group); }

bool Chain::round(Group group, std::uint64_t steps_of(Group, kata::Counts&)) {
    const auto& first = *group.front();
    const bool harmless =
        first.what == What::basic_block || (first.what == What::load && first.space != Space::global);
    if (!harmless || (lanes_of(group) & ~polling_) != 0) return false;
    round_steps_ += steps_of(group, round_);
    return true;
}

bool Chain::next_round(Group group) {
    const auto repeats = [](const Event* e) { return e->repeats; };
    if ((lanes_of(group) & ~polling_) != 0 || !std::all_of(group.begin(), group.end(), repeats)) return false;
    round_steps_ = 0;
    round_ = {};
    return true;
}

void Chain::end_polling(kata::Counts& counts) {
    if (polling_ == 0) return;
    polling_ = 0;
    step(std::exchange(round_steps_, 0));
    counts += std::exchange(round_, {});
}

Words::Words(std::size_t bytes) : count_((bytes + 3) / 4), most_(count_) {
    words_ = zeros<Word>(count_);
    if (!words_) simt::out_of_memory();
}

std::uint64_t busiest(std::vector<std::uint64_t> work_of_blocks) {
    constexpr auto greater = std::greater<>();
    if (!std::is_sorted(work_of_blocks.begin(), work_of_blocks.end(), greater))
        std::sort(work_of_blocks.begin(), work_of_blocks.end(), greater);
    std::array<std::uint64_t, kata::machine::multiprocessors> given{};  // a heap, the least on top
    for (const auto work : work_of_blocks) {
        std::pop_heap(given.begin(), given.end(), greater);
        given.back() += work;
        std::push_heap(given.begin(), given.end(), greater);
    }
    constexpr auto together = kata::machine::issued_together;
    return (*std::max_element(given.begin(), given.end()) + together - 1) / together;
}

}  // namespace meter
