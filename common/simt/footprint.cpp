#include "simt/footprint.hpp"

#include <algorithm>

namespace simt {

void Bytes::tidy() {
    std::sort(ranges_.begin(), ranges_.end(),
              [](const Range& a, const Range& b) { return a.begin < b.begin; });
    std::size_t kept = 0;
    for (const auto& range : ranges_)
        if (kept > 0 && range.begin <= ranges_[kept - 1].end)
            ranges_[kept - 1].end = std::max(ranges_[kept - 1].end, range.end);
        else
            ranges_[kept++] = range;
    ranges_.resize(kept);
    most_untidy_ = std::max<std::size_t>(4096, 2 * kept);
}

void Bytes::remove(Range gone) {
    std::vector<Range> left;
    for (const auto& range : ranges_) {
        if (range.begin < gone.begin) left.push_back({range.begin, std::min(range.end, gone.begin)});
        if (range.end > gone.end) left.push_back({std::max(range.begin, gone.end), range.end});
    }
    ranges_ = std::move(left);
}

bool Bytes::meets(const Bytes& other) const {
    auto a = ranges_.begin(), b = other.ranges_.begin();
    while (a != ranges_.end() && b != other.ranges_.end()) {
        if (a->begin < b->end && b->begin < a->end) return true;
        a->end < b->end ? ++a : ++b;
    }
    return false;
}

void Footprint::tidy() {
    for (auto* bytes : {&read, &written, &updated}) bytes->tidy();
}

void Footprint::remove(Range gone) {
    for (auto* bytes : {&read, &written, &updated}) bytes->remove(gone);
}

bool Footprint::clashes(const Footprint& other) const {
    return written.meets(other.written) || written.meets(other.read) || written.meets(other.updated) ||
           other.written.meets(read) || other.written.meets(updated) || updated.meets(other.read) ||
           other.updated.meets(read);
}

}  // namespace simt
