// Times of kernels and the best that the device could do, on a GPU. Fibers say nothing about either.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>

namespace kata {

struct Ceilings {
    double bytes_per_second;  ///< moved by a copy within device memory, read and written; measured
    double flops_per_second;  ///< single precision, a fused multiply-add counting as two; from the clock rate
};

struct Memory {
    std::size_t free_bytes;
    std::size_t cache_bytes;  ///< size of the L2 cache
};

class Stopwatch {
  public:
    virtual ~Stopwatch() = default;

    /// Returns the seconds on the device from the start of the first to the end of the last task of `work`,
    /// to about a microsecond, which is also the time of empty work. The L2 cache holds none of its data at
    /// the start. Throws what observe() throws. Must not be called within observe().
    virtual double time(const std::function<void()>& work) = 0;

    /// Returns the seconds on the device from the end of `lead` to the end of `work`. The caches hold what
    /// `lead` leaves in them. If `lead` takes longer on the device than it takes the host to enqueue `work`,
    /// no time of the host is included. The work may take a minute. Throws what observe() throws.
    virtual double time_behind(const std::function<void()>& lead, const std::function<void()>& work) = 0;

    virtual Memory memory() = 0;

    /// Throws kata::Error if less than 1/8 GiB of the device's memory is free.
    virtual Ceilings ceilings() = 0;
};

/// True if the back end keeps time.
bool keeps_time();

/// Returns null if the back end keeps no time. Throws kata::Error if there is no device, or no room on it for
/// the buffer that flushes the cache.
std::unique_ptr<Stopwatch> stopwatch();

}  // namespace kata
