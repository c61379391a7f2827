#include "judge/chain.hpp"

#include "watch.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace kata {

namespace {

constexpr std::size_t most_links = 1 << 22;  // some hundred megabytes

/// A part of a warp's work that nothing interrupts.
struct Link {
    std::uint64_t begins, ends, block;
    unsigned warp;
    std::uint32_t code;

    bool is_of_warp_of(const Link& other) const { return block == other.block && warp == other.warp; }
};

/// Follows the longest chain of each launch from its end to its beginning.
class Chains final : public Watcher {
  public:
    Interest interest() const override { return {.addresses = false, .counts = false}; }
    void launch_begins(const Scene& scene) override {
        end_launch();
        scene_ = scene;
    }
    void request(const Request& r) override {
        if (links_.size() < most_links && r.begins < r.ends)
            links_.push_back({r.begins, r.ends, r.block, r.warp, r.code});
    }

    void end_launch() {
        complete_ = complete_ && links_.size() < most_links;
        // Among links that end together, a warp's last one comes last.
        std::stable_sort(links_.begin(), links_.end(),
                         [](const Link& a, const Link& b) { return a.ends < b.ends; });
        std::map<std::uint32_t, std::uint64_t> steps;
        const Link* last = nullptr;
        for (auto link = links_.rbegin(); link != links_.rend();) {
            if (last && link->ends > last->begins) {
                ++link;
                continue;
            }
            // A waiting warp continues when the warp that it waits for ends.
            auto next = link;
            if (last)
                for (auto other = link; other != links_.rend() && other->ends == link->ends; ++other)
                    if (other->is_of_warp_of(*last)) next = other;
            steps[next->code] += next->ends - next->begins;
            last = &*next;
            ++link;
        }
        for (const auto& [code, count] : steps) lines_[scene_.lines_of(std::span(&code, 1)).front()] += count;
        links_.clear();
    }

    /// Returns which line has the most steps of the longest chain. `longest` is the length of this chain,
    /// including its waits. Returns "" if the steps that were followed make up less than 3/4 of it.
    std::string text(std::uint64_t longest) const {
        const auto most = std::max_element(lines_.begin(), lines_.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        std::uint64_t all = 0;
        for (const auto& [line, steps] : lines_) all += steps;
        if (!complete_ || most == lines_.end() || 4 * all < 3 * longest) return "";
        return "\n  of the " + std::to_string(all) + " steps of the longest chain " +
               std::to_string(most->second) + " are in " + most->first;
    }

  private:
    Scene scene_;
    std::vector<Link> links_;
    std::map<std::string, std::uint64_t> lines_;
    bool complete_ = true;
};

}  // namespace

std::string most_of_chain(const std::function<std::uint64_t()>& run) {
    if (watcher) return "";  // the run is watched for another reason
    Chains chains;
    const WatchedBy watching(chains);
    const auto longest = run();
    chains.end_launch();
    return chains.text(longest);
}

}  // namespace kata
