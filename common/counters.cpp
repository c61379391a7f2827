#include "counters.hpp"

#include "error.hpp"

namespace kata {

const Counter& counter(std::string_view key) {
    const auto* const found = std::find_if(std::begin(counters::table), std::end(counters::table),
                                           [&](const Counter& c) { return c.key == key; });
    if (found == std::end(counters::table)) throw Error("there is no counter \"" + std::string(key) + "\"");
    return *found;
}

double shown(const Counter& counter, const Counts& counts, double outputs, double operations) {
    const double total = counter.of(counts);
    switch (counter.per) {
        case Per::nothing:
            return total;
        case Per::output:
            return counters::ratio(total, outputs);
        case Per::block:
            return counters::ratio(total, counters::number(counts.blocks));
        case Per::divides:
            return counters::ratio(operations, total);
    }
    return total;
}

}  // namespace kata
