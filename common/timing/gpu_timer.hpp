// How long a step takes on the GPU, and how fast the GPU could be at best.
#pragma once
#include "buffer.hpp"

#include <cstddef>
#include <cuda_runtime_api.h>
#include <functional>

namespace kata {

/// Times what `work` does on the default stream, from an L2 cache that holds none of its data. What emptied
/// the cache is in it and must be written back first: sizes well above the cache's own keep that out of the
/// time.
class GpuTimer {
  public:
    /// Throws kata::Error where there is no GPU, or no room on it for the buffer that empties the cache.
    GpuTimer();
    GpuTimer(const GpuTimer&) = delete;
    GpuTimer& operator=(const GpuTimer&) = delete;
    ~GpuTimer();

    /// Seconds on the device from the first to the last thing `work` asks of it, to about a microsecond,
    /// which is also the time of nothing. Throws what observe() throws; not to be called within it.
    double time(const std::function<void()>& work);

  private:
    Buffer<std::byte> flush_;
    cudaEvent_t start_{}, stop_{};
};

struct Ceilings {
    double bytes_per_second;  ///< of a copy within device memory, read and written bytes together; measured
    double flops_per_second;  ///< single precision, a fused multiply-add counting as two; from the clock rate
};

/// Throws kata::Error where there is no GPU, or less than 1/8 GiB of its memory is free.
Ceilings measure_ceilings();

}  // namespace kata
