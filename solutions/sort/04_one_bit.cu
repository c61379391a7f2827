// 04 One bit: elements whose bit is 0 go to the front, the others behind them, and each keeps its order. Done
// for every bit, from the lowest on, that sorts. Mirrors radix sort in PMPP's chapter on sort. Changed from
// 03: keys are not compared at all, so the number of passes depends on their length and not on n. The place
// of a zero is the number of zeros before it, which is a scan. Warps count with ballots.
#include "digits.cuh"

constexpr int threads = 256;
constexpr int section = 512;  // elements of a warp

/// Counts the zeros and the ones of each warp's section. `counts` has the zeros of all sections in order, and
/// then their ones.
template <class T>
__global__ void count_bits(const T* in, int n, int bit, int sections, unsigned* counts) {
    // kata: begin
    const int lane = threadIdx.x % 32, s = (blockIdx.x * threads + threadIdx.x) / 32;
    if (s >= sections) return;  // all lanes of the warp together
    const int first = s * section;
    unsigned ones = 0;
    for (int i = first + lane; i - lane < min(first + section, n); i += 32)
        ones += __popc(__ballot_sync(~0u, i < n && digit_of<1>(in[i], bit) == 1));
    if (lane == 0) {
        counts[s] = min(section, n - first) - ones;
        counts[sections + s] = ones;
    }
    // kata: end
}

/// `before` has the counts after the scan: how many zeros there are before each section, and then how many
/// elements before its ones.
template <class T>
__global__ void scatter(const T* in, T* out, int n, int bit, int sections, const unsigned* before) {
    // kata: begin
    const int lane = threadIdx.x % 32, s = (blockIdx.x * threads + threadIdx.x) / 32;
    if (s >= sections) return;
    const int first = s * section;
    unsigned zero = before[s], one = before[sections + s];  // places of the next 0 and of the next 1
    for (int i = first + lane; i - lane < min(first + section, n); i += 32) {
        T element;
        if (i < n) element = in[i];
        const bool is_one = i < n && digit_of<1>(element, bit) == 1;
        const unsigned exist = __ballot_sync(~0u, i < n), ones = __ballot_sync(~0u, is_one);
        const unsigned left = (1u << lane) - 1;  // the lanes to the left of this one
        if (i < n) out[is_one ? one + __popc(ones & left) : zero + __popc(~ones & left)] = element;
        one += __popc(ones);
        zero += __popc(exist & ~ones);
    }
    // kata: end
}

template <class T>
void sort_elements(const T* in, T* out, int n, T* workspace) {
    // kata: begin
    if (n == 0) return;
    const int sections = ceil_div(n, section), blocks = ceil_div(sections, threads / 32);
    unsigned* const counts = counts_behind(workspace, n);
    const T* from = in;
    for (int bit = 0; bit < key_bits<T>; ++bit) {
        T* const to = bit % 2 == 0 ? workspace : out;  // the number of bits is even, so `out` is the last one
        count_bits<<<blocks, threads>>>(from, n, bit, sections, counts);
        check(cudaGetLastError());
        scan_counts(counts, 2 * sections);
        scatter<<<blocks, threads>>>(from, to, n, bit, sections, counts);
        check(cudaGetLastError());
        from = to;
    }
    // kata: end
}
