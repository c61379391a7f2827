#include "simt/grid.hpp"

#include "error.hpp"
#include "simt/elsewhere.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace simt {

namespace {

/// The dynamic shared memory that a kernel may have, until the process ends.
struct Asked {
    const void* kernel;
    std::string module;
    std::size_t bytes;
};
std::vector<Asked> asked_for;

/// For an unknown kernel, the most that any kernel of its module may have.
std::size_t asked_by(const void* kernel, const Image& image) {
    std::size_t most = 0;
    for (const auto& a : asked_for)
        if (kernel ? a.kernel == kernel : a.module == image.path) most = std::max(most, a.bytes);
    return most;
}

}  // namespace

void admit(Grid& grid) {
    const auto extent = [](dim3 d) { return kata::Extent{d.x, d.y, d.z}; };
    const auto& launch = grid.launch;
    kata::Configuration asked{extent(launch.grid), extent(launch.block), launch.shared_bytes};
    asked.asked = asked_by(launch.kernel, grid.image);
    if (grid.image.shared.size() + launch.shared_bytes > limits.unasked && launch.kernel)
        asked.static_shared = shared_of(grid.image, launch.kernel);
    if (const auto text = excess(asked, limits); !text.empty())
        throw kata::Error(asked.refused() + ": " + text);
    if (asked.asked > 0 && launch.shared_bytes <= asked.asked) grid.shared_limit = limits.shared;
    if (grid.image.shared.size() <= limits.unasked) return;
    // As ptxas does, even if another kernel is launched.
    if (const auto most = most_shared(grid.image); most.bytes > limits.unasked)
        throw kata::Error("launch refused: " + most.function + " has " + std::to_string(most.bytes) +
                          " bytes of shared memory; a block has " + std::to_string(limits.unasked));
}

void allow_shared(const void* kernel, int bytes) {
    if (const auto there = elsewhere<allow_shared>) return there(kernel, bytes);
    const auto image = image_of(kernel);
    const auto declared = shared_of(image, kernel);
    if (bytes < 0 || declared + static_cast<std::size_t>(bytes) > limits.shared)
        throw kata::Error("cudaFuncSetAttribute refused: " + std::to_string(bytes) +
                          " bytes of dynamic shared memory; a block has room for " +
                          std::to_string(limits.shared) + " bytes of shared memory, and " +
                          std::to_string(declared) + " of them are this kernel's __shared__ variables");
    std::erase_if(asked_for, [&](const Asked& a) { return a.kernel == kernel; });
    asked_for.push_back({kernel, image.path, static_cast<std::size_t>(bytes)});
}

}  // namespace simt
