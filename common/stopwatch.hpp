// How long kernels take, and how fast the device could be at best: on a GPU. Fibers say nothing about either.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>

namespace kata {

struct Ceilings {
    double bytes_per_second;  ///< of a copy within device memory, read and written bytes together; measured
    double flops_per_second;  ///< single precision, a fused multiply-add counting as two; from the clock rate
};

struct Memory {
    std::size_t free_bytes;
    std::size_t cache_bytes;  ///< of the L2 cache
};

class Stopwatch {
  public:
    virtual ~Stopwatch() = default;

    /// Seconds on the device from the first to the last thing that `work` asks of it, to about a microsecond,
    /// which is also the time of nothing. The L2 cache holds none of its data when it begins. Throws what
    /// observe() throws; not to be called within it.
    virtual double time(const std::function<void()>& work) = 0;

    /// Seconds on the device from when it has done what `lead` asks of it until it has done what `work` asks.
    /// The caches hold what `lead` leaves in them; if it takes the device longer than asking for the work
    /// takes the host, no time of the host is in it. The work may take a minute. Throws what observe()
    /// throws.
    virtual double time_behind(const std::function<void()>& lead, const std::function<void()>& work) = 0;

    virtual Memory memory() = 0;

    /// Throws kata::Error where less than 1/8 GiB of the device's memory is free.
    virtual Ceilings ceilings() = 0;
};

/// Whether the back end keeps time.
bool keeps_time();

/// Null where the back end keeps no time. Throws kata::Error where there is no device, or no room on it for
/// the buffer that empties the cache.
std::unique_ptr<Stopwatch> stopwatch();

}  // namespace kata
