// The work of each line of the kernels, as JSON for explanations (common/front/explain.py).
#pragma once
#include "counts.hpp"
#include "watch.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace kata {

/// A place in the kernels: its code, the kind of access, and the memory: one instruction may access several.
using CodePlace = std::tuple<std::uint32_t, std::string, std::string>;

/// Returns the line of each place: "03_tiled.cu:27".
std::vector<std::string> lines_of(const Scene&, const std::vector<CodePlace>&);

/// Returns the counts of a run as an object.
std::string totals_as_json(const Counts&);

/// Adds up the requests at each place.
class LineCounts final : public Watcher {
  public:
    void launch_begins(const Scene&) override;
    void request(const Request&) override;
    /// Returns a list with an object for each place.
    std::string as_json() const;

  private:
    /// The work of the lanes of all warps at one place in the kernels.
    struct Sum {
        std::string array;
        unsigned bytes = 0;
        std::uint64_t requests = 0, lanes = 0, steps = 0, units = 0, least = 0, waits = 0;
        /// For atomics on global memory: the number of updates of each address. `turns` is the largest such
        /// number of any launch, because updates of one address take turns.
        std::unordered_map<std::uintptr_t, std::uint64_t> updates = {};
        std::uint64_t turns = 0;

        void update(std::uintptr_t address) { turns = std::max(turns, ++updates[address]); }
    };

    std::map<CodePlace, Sum> sums_;
    Scene scene_;
};

}  // namespace kata
