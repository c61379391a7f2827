// The bytes of memory that a launch or a copy accesses, and how.
#pragma once
#include "simt/image.hpp"

#include <cstddef>
#include <vector>

namespace simt {

/// A set of bytes.
class Bytes {
  public:
    void add(Range range) {
        if (range.size() == 0) return;
        if (!ranges_.empty() && range.begin >= ranges_.back().begin && range.begin <= ranges_.back().end) {
            if (range.end > ranges_.back().end) ranges_.back().end = range.end;
            return;
        }
        ranges_.push_back(range);
        if (ranges_.size() >= most_untidy_) tidy();
    }
    /// Sorts and merges the ranges. Must be called before the functions below.
    void tidy();
    void remove(Range);
    bool empty() const { return ranges_.empty(); }
    bool meets(const Bytes& other) const;

  private:
    std::vector<Range> ranges_;
    std::size_t most_untidy_ = 4096;
};

struct Footprint {
    Bytes read, written;
    Bytes updated;  // by atomics or as volatile: others may do so at the same time

    void tidy();
    void remove(Range);
    bool empty() const { return read.empty() && written.empty() && updated.empty(); }
    /// True if it matters which of the two comes first.
    bool clashes(const Footprint& other) const;
};

}  // namespace simt
