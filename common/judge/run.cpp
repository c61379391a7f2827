#include "judge/run.hpp"

#include "error.hpp"

namespace kata {

Run& Run::operator+=(const Run& other) {
    outputs += other.outputs;
    operations += other.operations;
    seen.launches += other.seen.launches;
    seen.unchecked += other.seen.unchecked;
    seen.one_in = other.seen.one_in;
    seen.idle.insert(seen.idle.end(), other.seen.idle.begin(), other.seen.idle.end());
    if (!seen.counts)
        seen.counts = other.seen.counts;
    else if (other.seen.counts)
        *seen.counts += *other.seen.counts;
    return *this;
}

const Counts& counts_of(const Run& run) {
    if (run.fault) throw Error(*run.fault + (run.problem.empty() ? "" : "\nwith " + run.problem));
    return run.seen.counts.value();
}

}  // namespace kata
