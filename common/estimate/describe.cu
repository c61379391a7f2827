// Describes the GPU of this machine for the estimate: its limits, and the cost of one kind of work at a time.
// Each figure comes from a kernel that does nothing else; none is fitted to a kernel of a chapter.
//
//   describe >NAME.csv      takes less than a minute, and nothing else may use the GPU
//
// A row is `quantity,x,y,value,unit,spread`. The meaning of x and y depends on the quantity and is given
// where it is measured; they are 0 if unused. Latencies are in cycles of the multiprocessor's clock. Rates
// are per cycle and multiprocessor, except those of the whole device; its bandwidths are in bytes per second.
// All rows are measured one after the other, repeatedly, so that a disturbance of a second affects each of
// them once. The value is the median; the spread is the distance of the quartiles, in % of it.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "describe: %s\n", cudaGetErrorString(error));
    std::exit(1);
}

int attribute(cudaDeviceAttr which) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

/// A row, and a function that measures it once.
struct Row {
    std::string quantity;
    double x, y;
    const char* unit;
    std::function<double()> measure;
    std::vector<double> values = {};
};
std::vector<Row> rows;

void row(std::string quantity, double x, double y, const char* unit, std::function<double()> measure) {
    rows.push_back({std::move(quantity), x, y, unit, std::move(measure)});
}

/// Device memory for the lifetime of the program.
template <class T>
T* allocate(std::size_t count) {
    T* p = nullptr;
    check(cudaMalloc(&p, count * sizeof(T)));
    check(cudaMemset(p, 0, count * sizeof(T)));
    return p;
}

/// Returns the seconds that the device needs for `work`, after a first run.
double seconds(const std::function<void()>& work) {
    static cudaEvent_t start = nullptr, stop = nullptr;
    if (!start) {
        check(cudaEventCreate(&start));
        check(cudaEventCreate(&stop));
    }
    work();
    check(cudaEventRecord(start));
    work();
    check(cudaEventRecord(stop));
    check(cudaEventSynchronize(stop));
    check(cudaGetLastError());
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start, stop));
    return ms * 1e-3;
}

long long* the_cycles() {
    static long long* const cycles = allocate<long long>(1);
    return cycles;
}

/// Returns the cycles reported by block 0 of the kernel in `work`, after a first run.
double cycles(const std::function<void(long long*)>& work) {
    work(the_cycles());
    work(the_cycles());
    long long taken = 0;
    check(cudaMemcpy(&taken, the_cycles(), sizeof taken, cudaMemcpyDeviceToHost));
    check(cudaGetLastError());
    return static_cast<double>(taken);
}

/// Times the loop of a block from its first to its last thread.
struct Timer {
    long long start;
    __device__ Timer() {
        __syncthreads();
        start = clock64();
    }
    __device__ void stop(long long* cycles) const {
        __syncthreads();
        if (blockIdx.x == 0 && threadIdx.x == 0) *cycles = clock64() - start;
    }
};

// Arithmetic.

struct FloatFma {
    using Type = float;
    static constexpr const char* name = "float_fma";
    static __device__ float apply(float v, float k) { return fmaf(v, k, k); }
};
struct DoubleFma {
    using Type = double;
    static constexpr const char* name = "double_fma";
    static __device__ double apply(double v, double k) { return fma(v, k, k); }
};
struct FloatDivide {
    using Type = float;
    static constexpr const char* name = "float_divide";
    static __device__ float apply(float v, float k) { return v / k + k; }
};
struct FloatSqrt {
    using Type = float;
    static constexpr const char* name = "float_rsqrt";
    static __device__ float apply(float v, float k) { return rsqrtf(v) + k; }
};
struct IntAdd {
    using Type = unsigned;
    static constexpr const char* name = "int_add";
    // The exclusive or keeps nvcc from replacing a loop of additions by a multiplication.
    static __device__ unsigned apply(unsigned v, unsigned k) { return (v + k) ^ k; }
};
struct IntMad {
    using Type = unsigned;
    static constexpr const char* name = "int_mad";
    static __device__ unsigned apply(unsigned v, unsigned k) { return v * k + k; }
};
struct IntDivide {
    using Type = unsigned;
    static constexpr const char* name = "int_divide";
    static __device__ unsigned apply(unsigned v, unsigned k) { return v / k + 0xFFFF0000u; }
};
struct Shuffle {
    using Type = unsigned;
    static constexpr const char* name = "shuffle";
    static __device__ unsigned apply(unsigned v, unsigned) { return __shfl_xor_sync(~0u, v, 1); }
};
struct WarpBarrier {
    using Type = unsigned;
    static constexpr const char* name = "warp_barrier";
    static __device__ unsigned apply(unsigned v, unsigned k) {
        __syncwarp();
        return v ^ k;
    }
};

template <class Op, int chains>
__global__ void arithmetic(long long* cycles, typename Op::Type k, typename Op::Type* sink, int rounds) {
    typename Op::Type v[chains];
#pragma unroll
    for (int c = 0; c < chains; ++c) v[c] = k + static_cast<typename Op::Type>(threadIdx.x + c);
    const Timer timer;
#pragma unroll 8
    for (int r = 0; r < rounds; ++r)
#pragma unroll
        for (int c = 0; c < chains; ++c) v[c] = Op::apply(v[c], k);
    timer.stop(cycles);
    auto sum = v[0];
#pragma unroll
    for (int c = 1; c < chains; ++c) sum += v[c];
    if (sum == static_cast<typename Op::Type>(12345)) *sink = sum;
}

/// latency: of an operation; rate: warps per cycle and multiprocessor.
template <class Op>
void describe_arithmetic(int multiprocessors) {
    constexpr int rounds = 2048, chains = 4, threads = 1024;
    auto* const sink = allocate<typename Op::Type>(1);
    const auto k = static_cast<typename Op::Type>(3);
    row(std::string("latency_") + Op::name, 0, 0, "cycles", [=] {
        return cycles([=](long long* c) { arithmetic<Op, 1><<<1, 32>>>(c, k, sink, rounds); }) / rounds;
    });
    row(std::string("rate_") + Op::name, 0, 0, "warps/cycle", [=] {
        return double{rounds} * chains * (threads / 32) / cycles([=](long long* c) {
                   arithmetic<Op, chains><<<multiprocessors, threads>>>(c, k, sink, rounds);
               });
    });
}

// Latency of memory: each load returns the address of the next.

struct alignas(128) Node {
    Node* next;
};

/// A ring through all nodes, a power of two of them, in an order that no prefetcher guesses: i -> 5 i + 1,
/// with the bits of the place reversed, so that neighbors in the ring lie far apart.
__global__ void make_ring(Node* nodes, unsigned bits) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, count = 1u << bits;
    if (i >= count) return;
    const unsigned next = (5 * i + 1) & (count - 1);
    nodes[__brev(i) >> (32 - bits)].next = &nodes[__brev(next) >> (32 - bits)];
}

enum class Cached { in_l1, in_l2 };

template <Cached cached>
__device__ Node* load(Node* const* p) {
    unsigned long long next;
    if constexpr (cached == Cached::in_l1)
        asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(next) : "l"(p));
    else
        asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(next) : "l"(p));
    return reinterpret_cast<Node*>(next);
}

/// Continues where the last launch left `*at`: nodes that no cache holds if the ring is longer than the
/// cache.
template <Cached cached>
__global__ void chase(long long* cycles, Node** at, int warm_up, int rounds) {
    Node* node = *at;
    for (int r = 0; r < warm_up; ++r) node = load<cached>(&node->next);
    const Timer timer;
#pragma unroll 8
    for (int r = 0; r < rounds; ++r) node = load<cached>(&node->next);
    timer.stop(cycles);
    *at = node;
}

__global__ void chase_shared(long long* cycles, unsigned* sink, int rounds) {
    constexpr unsigned count = 1024;
    __shared__ unsigned next[count];  // offset in bytes of the next element to load
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) next[i] = (5 * i + 1) % count * 4;
    unsigned at = 0;
    const Timer timer;
#pragma unroll 8
    for (int r = 0; r < rounds; ++r)
        at = *reinterpret_cast<const unsigned*>(reinterpret_cast<const char*>(next) + at);
    timer.stop(cycles);
    *sink = at;
}

__global__ void atomic_chain(long long* cycles, unsigned* memory, unsigned* sink, int rounds,
                             bool in_shared) {
    __shared__ unsigned s[32];
    s[threadIdx.x] = 0;
    unsigned* const p = in_shared ? s : memory;
    unsigned at = 0;
    const Timer timer;
    for (int r = 0; r < rounds; ++r)
        at = atomicAdd(p + at, 0u);  // adds 0, so the next one waits for it and has the same address
    timer.stop(cycles);
    *sink = at;
}

template <Cached cached>
void describe_ring(const char* name, unsigned bits, int warm_up) {
    constexpr int rounds = 4096;
    auto* const nodes = allocate<Node>(std::size_t{1} << bits);
    auto** const at = allocate<Node*>(1);
    make_ring<<<((1u << bits) + 255) / 256, 256>>>(nodes, bits);
    check(cudaMemcpy(at, &nodes, sizeof nodes, cudaMemcpyHostToDevice));
    row(name, 0, 0, "cycles", [=] {
        return cycles([=](long long* c) { chase<cached><<<1, 1>>>(c, at, warm_up, rounds); }) / rounds;
    });
}

void describe_latency() {
    constexpr int rounds = 4096;
    auto* const word = allocate<unsigned>(64);
    row("latency_shared_load", 0, 0, "cycles",
        [=] { return cycles([=](long long* c) { chase_shared<<<1, 1>>>(c, word, rounds); }) / rounds; });
    describe_ring<Cached::in_l1>("latency_l1_load", 7, 128);       // 16 KiB
    describe_ring<Cached::in_l2>("latency_l2_load", 15, 1 << 15);  // 4 MiB
    describe_ring<Cached::in_l2>("latency_dram_load", 23, 0);      // 1 GiB
    for (const bool in_shared : {true, false})
        row(in_shared ? "latency_shared_atomic" : "latency_global_atomic", 0, 0, "cycles", [=] {
            return cycles(
                       [=](long long* c) { atomic_chain<<<1, 1>>>(c, word, word + 32, rounds, in_shared); }) /
                   rounds;
        });
}

// A multiprocessor's own memories: the cost of a warp's request by the addresses of its lanes.

enum class Access { shared_load, shared_store, shared_atomic, shared_atomic_any, shared_float_atomic };

/// Each lane accesses the word `lane * stride`, modulo `words`.
template <Access access>
__global__ void request(long long* cycles, unsigned* sink, unsigned stride, unsigned words, int rounds) {
    extern __shared__ unsigned s[];
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x) s[i] = 0;
    __syncthreads();
    const unsigned lane = threadIdx.x % 32, at = lane * stride % words;
    volatile unsigned* const place = s + at;
    unsigned sum = 0;
    const Timer timer;
#pragma unroll 8
    for (int r = 0; r < rounds; ++r) {
        if constexpr (access == Access::shared_load) {
            sum += *place;
        } else if constexpr (access == Access::shared_store) {
            *place = sum;
        } else if constexpr (access == Access::shared_atomic) {
            atomicAdd(s + at, 1u);  // adds a constant, for which the hardware combines the lanes
        } else if constexpr (access == Access::shared_atomic_any) {
            atomicAdd(s + at, lane + static_cast<unsigned>(rounds));
        } else {
            atomicAdd(reinterpret_cast<float*>(s) + at, 1.0f);
        }
    }
    timer.stop(cycles);
    if (sum == 12345) *sink = sum;
}

/// x: words from lane to lane; y: distinct words accessed by the 32 lanes.
template <Access access>
void describe_request(const char* name, const std::vector<std::pair<unsigned, unsigned>>& strides_and_words) {
    constexpr int rounds = 1024, threads = 1024;
    auto* const sink = allocate<unsigned>(1);
    for (const auto& [stride, words] : strides_and_words) {
        const unsigned distinct = std::min(32u, std::max(1u, stride == 0 ? 1u : words / stride));
        row(name, stride, distinct, "cycles/request", [=, stride = stride, words = words] {
            return cycles([=](long long* c) {
                       request<access>
                           <<<1, threads, 32 * 32 * sizeof(unsigned)>>>(c, sink, stride, words, rounds);
                   }) /
                   (double{rounds} * (threads / 32));
        });
    }
}

__global__ void barriers(long long* cycles, int rounds) {
    const Timer timer;
    for (int r = 0; r < rounds; ++r) __syncthreads();
    timer.stop(cycles);
}

void describe_multiprocessor() {
    const std::vector<std::pair<unsigned, unsigned>> strides{{1, 1024}, {2, 1024},  {4, 1024},
                                                             {8, 1024}, {16, 1024}, {32, 1024}};
    const std::vector<std::pair<unsigned, unsigned>> spread{{1, 1024}, {8, 1024}, {32, 1024}};
    const std::vector<std::pair<unsigned, unsigned>> meeting{{1, 1024}, {1, 16}, {1, 8},
                                                             {1, 4},    {1, 2},  {0, 1}};
    describe_request<Access::shared_load>("shared_load", strides);
    describe_request<Access::shared_store>("shared_store", strides);
    describe_request<Access::shared_atomic>("shared_atomic", meeting);
    describe_request<Access::shared_atomic>("shared_atomic_spread", spread);
    describe_request<Access::shared_atomic_any>("shared_atomic_any", meeting);
    describe_request<Access::shared_float_atomic>("shared_float_atomic", meeting);
    constexpr int rounds = 1024;
    for (int threads = 32; threads <= 1024; threads *= 2)  // x: threads of the block
        row("barrier", threads, 0, "cycles",
            [=] { return cycles([=](long long* c) { barriers<<<1, threads>>>(c, rounds); }) / rounds; });
}

// Shared by all multiprocessors: L2, memory, atomics.

enum class From { l2, dram };

/// All threads go through memory side by side from `first` on, each with `in_flight` loads of 16 bytes in
/// flight.
template <int in_flight>
__global__ void read(const uint4* memory, std::size_t count, std::size_t first, std::size_t rounds,
                     unsigned* sink) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    std::size_t at = (first + std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) % count;
    unsigned sum = 0;
#pragma unroll 1  // otherwise more loads would be in flight
    for (std::size_t r = 0; r < rounds; r += in_flight) {
        uint4 v[in_flight];
#pragma unroll
        for (int i = 0; i < in_flight; ++i) {
            v[i] = __ldcg(memory + at);
            at += threads;
            if (at >= count) at -= count;
        }
#pragma unroll
        for (int i = 0; i < in_flight; ++i) sum += v[i].x ^ v[i].y ^ v[i].z ^ v[i].w;
    }
    if (sum == 12345) *sink = sum;
}

__global__ void write(uint4* memory, std::size_t count) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads)
        memory[i] = make_uint4(1, 2, 3, 4);
}

/// Each lane loads a word, `stride` words from its neighbor's.
__global__ void read_strided(const unsigned* memory, std::size_t count, unsigned stride, int rounds,
                             unsigned* sink) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    std::size_t at = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) * stride % count;
    const std::size_t step = threads * stride % count;
    unsigned sum = 0;
#pragma unroll 4
    for (int r = 0; r < rounds; ++r) {
        sum += __ldcg(memory + at);
        at += step;
        if (at >= count) at -= count;
    }
    if (sum == 12345) *sink = sum;
}

/// Adds to `addresses` words, a power of two, lane beside lane: a warp has conflicts of its own only below
/// 32.
template <class T>
__global__ void add(T* memory, unsigned addresses, int rounds) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; ++r) atomicAdd(memory + ((thread + r * 32u) & (addresses - 1)), T(1));
}

/// Adds to `addresses` words of a line that no other block accesses.
__global__ void add_in_own_line(unsigned* memory, unsigned addresses, int rounds) {
    unsigned* const line = memory + blockIdx.x * 32u;
    for (int r = 0; r < rounds; ++r) atomicAdd(line + (threadIdx.x & (addresses - 1)), 1u);
}

constexpr std::size_t shared_for_one_block = 120 * 1024;  // more than half of what a multiprocessor has

template <int in_flight>
void describe_reads(From from, int multiprocessors, const uint4* memory, unsigned* sink) {
    const std::size_t bytes = from == From::l2 ? std::size_t{8} << 20 : std::size_t{2} << 30;
    const std::size_t count = bytes / sizeof(uint4);
    check(cudaFuncSetAttribute(read<in_flight>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               shared_for_one_block));
    for (const int blocks : {1, 4, 16, multiprocessors / 4, multiprocessors / 2, multiprocessors})
        for (const int threads : {32, 128, 512, 1024}) {
            // About a millisecond, if a multiprocessor gets 20 GB/s a warp and at most 60.
            const double guess = blocks * std::min(60e9, 10e9 * threads / 32);
            const auto rounds =
                static_cast<std::size_t>(
                    std::min(guess * 1e-3, from == From::l2 ? 1e9 : static_cast<double>(bytes)) /
                    (16.0 * blocks * threads)) /
                    in_flight * in_flight +
                in_flight;
            // x: multiprocessors with work; y: bytes in flight on each
            row(from == From::l2 ? "l2_read" : "dram_read", blocks, 16.0 * threads * in_flight, "B/s",
                [=, first = std::size_t{0}]() mutable {
                    const double taken = seconds([&] {
                        read<in_flight>
                            <<<blocks, threads, shared_for_one_block>>>(memory, count, first, rounds, sink);
                        // otherwise the cache would still hold it
                        first = (first + rounds * static_cast<std::size_t>(blocks * threads)) % count;
                    });
                    return 16.0 * static_cast<double>(rounds) * blocks * threads / taken;
                });
        }
}

template <class T>
void describe_atomics(const char* name, int multiprocessors, T* memory) {
    // As many rounds as take about a millisecond, much longer than a launch; x: addresses
    for (const auto& [addresses, rounds] :
         {std::pair{1u, 4}, {2u, 8}, {8u, 32}, {32u, 32}, {256u, 64}, {4096u, 512}, {1u << 20, 1024}})
        row(name, addresses, 0, "1/s", [=, addresses = addresses, rounds = rounds] {
            const int blocks = multiprocessors * 2, threads = 1024;
            return static_cast<double>(rounds) * blocks * threads /
                   seconds([=] { add<<<blocks, threads>>>(memory, addresses, rounds); });
        });
}

void describe_memory(int multiprocessors) {
    const std::size_t bytes = std::size_t{2} << 30;
    auto* const memory = allocate<uint4>(bytes / sizeof(uint4));
    auto* const words = reinterpret_cast<unsigned*>(memory);
    auto* const sink = allocate<unsigned>(1);
    const int blocks = multiprocessors * 2, threads = 1024;
    describe_reads<1>(From::l2, multiprocessors, memory, sink);
    describe_reads<4>(From::l2, multiprocessors, memory, sink);
    describe_reads<1>(From::dram, multiprocessors, memory, sink);
    describe_reads<4>(From::dram, multiprocessors, memory, sink);
    row("dram_write", multiprocessors, 0, "B/s", [=] {
        return static_cast<double>(bytes) /
               seconds([=] { write<<<multiprocessors * 8, 256>>>(memory, bytes / sizeof(uint4)); });
    });
    row("dram_copy", multiprocessors, 0, "B/s", [=] {
        return static_cast<double>(bytes) / seconds([=] {
                   check(cudaMemcpyAsync(memory, memory + bytes / sizeof(uint4) / 2, bytes / 2,
                                         cudaMemcpyDeviceToDevice));
               });
    });
    for (const unsigned stride : {1u, 2u, 4u, 8u, 16u, 32u})  // x: words from lane to lane
        for (const auto& [name, count] :
             {std::pair{"l2_sectors", std::size_t{2} << 20}, {"dram_sectors", bytes / 4}})
            row(name, stride, 0, "sectors/s", [=, count = count] {
                const int rounds = std::min(512, 2048 / static_cast<int>(stride));
                const double sectors =
                    static_cast<double>(rounds) * blocks * threads * std::min(stride, 8u) / 8;
                return sectors / seconds([=] {
                           read_strided<<<blocks, threads>>>(words, count, stride, rounds, sink);
                       });
            });
    describe_atomics("global_atomic", multiprocessors, words);
    describe_atomics("global_float_atomic", multiprocessors, reinterpret_cast<float*>(memory));
    for (const unsigned addresses : {1u, 2u, 4u, 8u, 32u})  // x: addresses per block
        row("global_atomic_own_line", addresses, 0, "1/s", [=] {
            constexpr int rounds = 128;
            return static_cast<double>(rounds) * blocks * threads /
                   seconds([=] { add_in_own_line<<<blocks, threads>>>(words, addresses, rounds); });
        });
}

__global__ void nothing() {}

void describe_launches(int multiprocessors) {
    constexpr int launches = 200;
    row("launch", 0, 0, "s", [] {
        return seconds([] {
                   for (int i = 0; i < launches; ++i) nothing<<<1, 32>>>();
               }) /
               launches;
    });
    for (const int threads : {32, 256, 1024})  // x: threads of a block
        row("blocks", threads, 0, "blocks/s", [=] {
            const int few = multiprocessors * 256, many = 5 * few;
            const double of_few = seconds([=] { nothing<<<few, threads>>>(); });
            return (many - few) / (seconds([=] { nothing<<<many, threads>>>(); }) - of_few);
        });
}

__global__ void clocks(long long* cycles, long long* nanoseconds) {
    long long from, to;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(from));
    const long long start = clock64();
    do {
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(to));
    } while (to - from < 5'000'000);
    *cycles = clock64() - start;
    *nanoseconds = to - from;
}

void describe_limits() {
    const auto limit = [](const char* name, cudaDeviceAttr which, const char* unit) {
        row(name, 0, 0, unit, [=] { return attribute(which); });
    };
    limit("multiprocessors", cudaDevAttrMultiProcessorCount, "1");
    limit("threads_a_multiprocessor", cudaDevAttrMaxThreadsPerMultiProcessor, "1");
    limit("blocks_a_multiprocessor", cudaDevAttrMaxBlocksPerMultiprocessor, "1");
    limit("registers_a_multiprocessor", cudaDevAttrMaxRegistersPerMultiprocessor, "1");
    limit("shared_a_multiprocessor", cudaDevAttrMaxSharedMemoryPerMultiprocessor, "B");
    limit("l2_bytes", cudaDevAttrL2CacheSize, "B");
    auto* const times = allocate<long long>(2);
    row("clock", 0, 0, "Hz", [=] {
        clocks<<<1, 1>>>(times, times + 1);
        long long taken[2];
        check(cudaMemcpy(taken, times, sizeof taken, cudaMemcpyDeviceToHost));
        return 1e9 * static_cast<double>(taken[0]) / static_cast<double>(taken[1]);
    });
}

/// Measures all rows repeatedly, at least three times and for at least half a minute.
void measure_all() {
    constexpr std::size_t least = 3, most = 41;
    constexpr std::chrono::seconds long_enough{30};
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t round = 0; round < most; ++round) {
        if (round >= least && std::chrono::steady_clock::now() - start > long_enough) break;
        for (auto& r : rows) r.values.push_back(r.measure());
    }
}

void print(Row& r) {
    std::sort(r.values.begin(), r.values.end());
    const auto n = r.values.size();
    const double median = r.values[n / 2];
    std::printf("%s,%.10g,%.10g,%.6g,%s,%.1f\n", r.quantity.c_str(), r.x, r.y, median, r.unit,
                100 * (r.values[n - 1 - n / 4] - r.values[n / 4]) / median);
}

}  // namespace

int main() {
    int driver = 0;
    check(cudaDriverGetVersion(&driver));
    cudaDeviceProp device{};
    check(cudaGetDeviceProperties(&device, 0));
    std::printf("# %s, sm_%d%d, CUDA %d.%d\nquantity,x,y,value,unit,spread in %%\n", device.name,
                device.major, device.minor, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    const int multiprocessors = device.multiProcessorCount;
    describe_limits();
    describe_arithmetic<FloatFma>(multiprocessors);
    describe_arithmetic<DoubleFma>(multiprocessors);
    describe_arithmetic<FloatDivide>(multiprocessors);
    describe_arithmetic<FloatSqrt>(multiprocessors);
    describe_arithmetic<IntAdd>(multiprocessors);
    describe_arithmetic<IntMad>(multiprocessors);
    describe_arithmetic<IntDivide>(multiprocessors);
    describe_arithmetic<Shuffle>(multiprocessors);
    describe_arithmetic<WarpBarrier>(multiprocessors);
    describe_latency();
    describe_multiprocessor();
    describe_memory(multiprocessors);
    describe_launches(multiprocessors);
    measure_all();
    for (auto& r : rows) print(r);
}
