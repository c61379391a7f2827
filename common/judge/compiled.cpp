#include "judge/compiled.hpp"

#include "estimate/gather.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace kata {

namespace {

/// Only caches depend on the device, and they change nothing here.
const ::estimate::Device any_device{"any",
                                    {{"threads_a_multiprocessor", 0, 0, 2048},
                                     {"blocks_a_multiprocessor", 0, 0, 32},
                                     {"shared_a_multiprocessor", 0, 0, 233472}}};

}  // namespace

const Counts& as_compiled(const Shape& shape) {
    static std::map<std::string_view, Counts> known;
    const auto [found, is_new] = known.try_emplace(shape.name, counts_of(counted_run(shape)));
    auto& c = found->second;
    if (!is_new) return c;
    ::estimate::Gatherer gatherer(any_device);
    {
        const WatchedBy watched(gatherer);
        shape.run(step());
    }
    for (const auto& launch : gatherer.demands()) {
        const double all = launch.looked_at > 0 ? launch.blocks / launch.looked_at : 0;
        const auto less = [&](std::uint64_t& count, double by) {
            count -= std::min(count, scaled(1, all * by));
        };
        less(c.basic_blocks, launch.unrolled);
        less(c.shared_load.transactions, launch.merged);
        less(c.work, launch.unrolled + launch.merged);
    }
    return c;
}

Counts at_best(Counts c) {
    c.work -= std::min(c.work, c.basic_blocks + c.shared_load.transactions);
    c.basic_blocks = c.shared_load.transactions = 0;
    return c;
}

}  // namespace kata
