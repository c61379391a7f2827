#include "stopwatch.hpp"

#include "buffer.hpp"
#include "error.hpp"
#include "gpu/device.hpp"
#include "observe.hpp"

#include <algorithm>
#include <array>
#include <cuda_runtime_api.h>

namespace kata {

namespace {

// Writing this much takes longer than launching a step: the step's kernels are queued behind it, and their
// time includes none of the host's.
constexpr std::size_t least_flush_bytes = std::size_t{64} << 20;

std::size_t flush_bytes() {
    require_device();
    return std::max(least_flush_bytes, 2 * static_cast<std::size_t>(gpu::attribute(cudaDevAttrL2CacheSize)));
}

/// Cores for single precision in a multiprocessor (CUDA programming guide, arithmetic instructions).
int cores_per_multiprocessor() {
    const int major = gpu::attribute(cudaDevAttrComputeCapabilityMajor);
    const int minor = gpu::attribute(cudaDevAttrComputeCapabilityMinor);
    const bool half = major == 7 || (major == 8 && minor == 0);
    return half ? 64 : 128;
}

/// Works in the default stream. The cache is flushed by writes, which must be written back: a buffer well
/// above the size of the cache keeps that out of the time.
class GpuStopwatch final : public Stopwatch {
  public:
    GpuStopwatch();
    GpuStopwatch(const GpuStopwatch&) = delete;
    GpuStopwatch& operator=(const GpuStopwatch&) = delete;
    ~GpuStopwatch() override;

    double time(const std::function<void()>& work) override;
    double time_behind(const std::function<void()>& lead, const std::function<void()>& work) override;
    Memory memory() override;
    Ceilings ceilings() override;

  private:
    double time_under(const Conditions&, const std::function<void()>& lead,
                      const std::function<void()>& work);
    double copied_bytes_per_second();

    Buffer<std::byte> flush_;
    cudaEvent_t start_{}, stop_{};
};

Memory GpuStopwatch::memory() {
    std::size_t available = 0, total = 0;
    gpu::check(cudaMemGetInfo(&available, &total), "the GPU does not report how much memory is free");
    return {available, static_cast<std::size_t>(gpu::attribute(cudaDevAttrL2CacheSize))};
}

double GpuStopwatch::copied_bytes_per_second() {
    const std::size_t bytes = std::min(memory().free_bytes / 4, std::size_t{1} << 30);
    if (bytes < std::size_t{1} << 25)
        throw Error(
            "too little memory is free on the GPU to measure its bandwidth: stop other programs there");
    Buffer<std::byte> from("source of the copy", bytes), to("target of the copy", bytes);
    const auto copy = [&] {
        gpu::check(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice),
                   "the copy failed");
    };
    time(copy);
    std::array<double, 9> seconds{};
    for (double& s : seconds) s = time(copy);
    std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
    return 2.0 * static_cast<double>(bytes) / seconds[seconds.size() / 2];
}

GpuStopwatch::GpuStopwatch() : flush_("buffer that empties the L2 cache", flush_bytes()) {
    gpu::check(cudaEventCreate(&start_), "no event could be created");
    gpu::check(cudaEventCreate(&stop_), "no event could be created");
}

GpuStopwatch::~GpuStopwatch() {
    if (gpu::lost()) return;
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
}

double GpuStopwatch::time(const std::function<void()>& work) {
    const auto empty_cache = [this] {
        gpu::check(cudaMemsetAsync(flush_.data(), 0, flush_.size()), "the L2 cache could not be emptied");
    };
    return time_under({}, empty_cache, work);
}

double GpuStopwatch::time_behind(const std::function<void()>& lead, const std::function<void()>& work) {
    return time_under({.time_limit = 60}, lead, work);
}

double GpuStopwatch::time_under(const Conditions& conditions, const std::function<void()>& lead,
                                const std::function<void()>& work) {
    observe(conditions, [&] {
        lead();
        gpu::check(cudaEventRecord(start_), "the start could not be marked");
        work();
        gpu::check(cudaEventRecord(stop_), "the end could not be marked");
    });
    float milliseconds = 0;
    gpu::check(cudaEventElapsedTime(&milliseconds, start_, stop_), "the time could not be read");
    return static_cast<double>(milliseconds) / 1e3;
}

Ceilings GpuStopwatch::ceilings() {
    const double hertz = 1e3 * gpu::attribute(cudaDevAttrClockRate);
    return {copied_bytes_per_second(),
            2.0 * cores_per_multiprocessor() * gpu::attribute(cudaDevAttrMultiProcessorCount) * hertz};
}

}  // namespace

bool keeps_time() { return true; }
std::unique_ptr<Stopwatch> stopwatch() { return std::make_unique<GpuStopwatch>(); }

}  // namespace kata
