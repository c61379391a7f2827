#include "error.hpp"
#include "gpu/cuda.hpp"
#include "gpu/device.hpp"
#include "gpu/launches.hpp"

#include <string>
#include <string_view>

namespace kata::backend {

void fail(cudaError_t error, const char* file, int line) {
    const std::string_view path(file);
    const std::string where = std::string(path.substr(path.rfind('/') + 1)) + ":" + std::to_string(line);
    const auto& refused = gpu::launches().refused;
    if (refused && refused->error == error) gpu::explain(*refused, where);
    gpu::fail(error, where, gpu::remedy(error));
}

void stop_at_open() { throw OpenKata{}; }

}  // namespace kata::backend
