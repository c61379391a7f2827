// The L1 cache of one multiprocessor, or a block's share of it: lines of 128 bytes, loaded by sectors of 32
// bytes and replaced in least recently used order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace estimate {

class Cache {
  public:
    explicit Cache(std::size_t bytes);

    /// Returns true if the sector, an address over 32, is cached, and caches it.
    bool ask(std::uint64_t sector);

  private:
    static constexpr std::size_t ways = 16;
    struct Line {
        std::uint64_t tag = ~std::uint64_t{0};
        std::uint64_t asked = 0;
        unsigned sectors = 0;  // a bit for each sector
    };
    std::vector<Line> lines_;
    std::size_t sets_;
    std::uint64_t now_ = 0;
};

}  // namespace estimate
