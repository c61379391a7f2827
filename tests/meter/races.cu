// Kernels with and without races, and programs as data.
#include "kata.hpp"
#include "kernels.hpp"
#include "operators.hpp"

#include <cuda/atomic>

namespace kernels {

__global__ void all_write_one_kernel(int* out) {
    __shared__ int word;
    word = threadIdx.x;  // mark: all write one
    __syncthreads();
    if (threadIdx.x == 0) *out = word;
}
void all_write_one(int* out, int threads) { all_write_one_kernel<<<1, threads>>>(out); }

__global__ void two_write_one_kernel(int* out, int first, int second) {
    __shared__ int word[3];
    const int t = threadIdx.x;
    if (t == first) word[1] = 1;   // mark: the first writes
    if (t == second) word[1] = 2;  // mark: the second writes
    __syncthreads();
    if (t == 0) *out = word[1];
}
void two_write_one(int* out, int first, int second) { two_write_one_kernel<<<1, 128>>>(out, first, second); }

__global__ void neighbour_kernel(int* out, bool barrier) {
    __shared__ int tile[1024];
    const int t = threadIdx.x;
    tile[t] = t;  // mark: neighbour writes
    if (barrier) __syncthreads();
    out[t] = tile[(t + 1) % blockDim.x];  // mark: neighbour reads
}
void neighbour(int* out, int threads, bool barrier) { neighbour_kernel<<<1, threads>>>(out, barrier); }

__global__ void neighbour_in_warp_kernel(int* out, bool synchronise) {
    __shared__ int tile[32];
    const int t = threadIdx.x;
    tile[t] = t;
    if (synchronise) __syncwarp();
    out[t] = tile[t ^ 1];
}
void neighbour_in_warp(int* out, bool synchronise) { neighbour_in_warp_kernel<<<1, 32>>>(out, synchronise); }

__global__ void two_lines_kernel(int* out) {
    __shared__ int a[64], b[64];
    const int t = threadIdx.x;
    a[t] = t;
    b[t] = t;
    int sum = a[t ^ 32];
    sum += b[t ^ 32];
    out[t] = sum;
}
void two_lines(int* out) { two_lines_kernel<<<1, 64>>>(out); }

__global__ void many_lines_kernel(int* out) {
    __shared__ int a[64];
    const int t = threadIdx.x, other = t ^ 32;
    a[t] = t;
    const volatile int* const again = a;
    int sum = again[other];
    sum += again[other];
    sum += again[other];
    sum += again[other];
    sum += again[other];
    sum += again[other];
    sum += again[other];
    sum += again[other];
    sum += again[other];
    sum += again[other];
    out[t] = sum;
}
void many_lines(int* out) { many_lines_kernel<<<1, 64>>>(out); }

__global__ void double_buffer_kernel(float* data, bool barrier) {
    __shared__ float a[256], b[256];
    const unsigned t = threadIdx.x;
    float *from = a, *to = b;
    from[t] = data[t];
    __syncthreads();
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        to[t] = t >= stride ? from[t] + from[t - stride] : from[t];  // mark: double buffer
        float* const swapped = from;
        from = to;
        to = swapped;
        if (barrier) __syncthreads();
    }
    data[t] = from[t];
}
void double_buffer(float* data, bool barrier) { double_buffer_kernel<<<1, 256>>>(data, barrier); }

// The last steps of a reduction, as written before Volta and as required since.
__device__ void volatile_tail(volatile float* x, unsigned t) {
    x[t] = x[t] + x[t + 32];  // mark: volatile tail
    x[t] = x[t] + x[t + 16];
    x[t] = x[t] + x[t + 8];
    x[t] = x[t] + x[t + 4];
    x[t] = x[t] + x[t + 2];
    x[t] = x[t] + x[t + 1];
}
__device__ void synchronised_tail(float* x, unsigned t) {
    for (unsigned d = 32; d > 0; d /= 2) {
        const float sum = x[t] + x[t + d];
        __syncwarp();
        x[t] = sum;
        __syncwarp();
    }
}
__global__ void reduction_tail_kernel(Tail tail, float* data) {
    __shared__ float tile[64];
    const unsigned t = threadIdx.x;
    const bool in_shared = tail == Tail::volatile_shared || tail == Tail::synchronised_shared;
    tile[t] = data[t];
    __syncthreads();
    if (t >= 32) return;
    float* const x = in_shared ? tile : data;
    if (tail == Tail::volatile_shared || tail == Tail::volatile_global)
        volatile_tail(x, t);
    else
        synchronised_tail(x, t);
    if (t == 0) data[0] = x[0];
}
void reduction_tail(Tail tail, float* data) { reduction_tail_kernel<<<1, 64>>>(tail, data); }

__global__ void histogram_kernel(const int* in, int* bins, int n, bool atomic) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (atomic)
        atomicAdd(&bins[in[i]], 1);
    else
        bins[in[i]] += 1;  // mark: histogram
}
void histogram(const int* in, int* bins, int n, bool atomic) {
    histogram_kernel<<<ceil_div(n, 64), 64>>>(in, bins, n, atomic);
}

__global__ void private_histogram_kernel(const int* in, int* bins, int n, bool zeroed, bool atomic,
                                         bool barrier) {
    __shared__ int mine[16];
    const int t = threadIdx.x;
    if (zeroed && t < 16) mine[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += blockDim.x * gridDim.x)
        if (atomic)
            atomicAdd(&mine[in[i]], 1);  // mark: private histogram counts
        else
            ++mine[in[i]];  // mark: private histogram counts plainly
    if (barrier) __syncthreads();
    if (t < 16) atomicAdd(&bins[t], mine[t]);  // mark: private histogram adds
}
void private_histogram(const int* in, int* bins, int n, bool zeroed, bool atomic, bool barrier) {
    private_histogram_kernel<<<2, 128>>>(in, bins, n, zeroed, atomic, barrier);
}

__global__ void bytes_of_words_kernel(unsigned char* out, int step) {
    out[threadIdx.x * step / 4] = static_cast<unsigned char>(threadIdx.x);
}
void bytes_of_words(unsigned char* out, int threads, int step) {
    bytes_of_words_kernel<<<1, threads>>>(out, step);
}
__global__ void byte_read_by_other_kernel(unsigned char* out) {
    const int t = threadIdx.x;
    if (t < 4) out[t] = 1;
    if (t == 40) out[8] = out[0];
}
void byte_read_by_other(unsigned char* out, int threads) { byte_read_by_other_kernel<<<1, threads>>>(out); }

__global__ void blocks_write_one_kernel(int* out) {
    if (threadIdx.x == 0) *out = blockIdx.x;
}
void blocks_write_one(int* out, int blocks) { blocks_write_one_kernel<<<blocks, 32>>>(out); }

__global__ void block_reads_other_kernel(int* data) {
    const int b = blockIdx.x;
    data[b] = b;
    __syncthreads();
    data[gridDim.x + b] = data[(b + 1) % gridDim.x];
}
void block_reads_other(int* data, int blocks) { block_reads_other_kernel<<<blocks, 1>>>(data); }

__global__ void block_counts_down_kernel(int* count, Count how) {
    if (threadIdx.x > 1) return;
    if (how == Count::of_device) atomicSub(count, 1);
    if (how == Count::of_block) atomicSub_block(count, 1);  // mark: block's own atomic
    if (how == Count::of_system) atomicSub_system(count, 1);
    if (how == Count::plain && threadIdx.x == 0) *count = *count - 1;
}
void block_counts_down(int* count, int blocks, Count how) {
    block_counts_down_kernel<<<blocks, 32>>>(count, how);
}

__global__ void volatile_between_blocks_kernel(Impatient how, int* words) {
    volatile int* const word = words;
    if (threadIdx.x != 0) return;
    if (how == Impatient::adds) *word = *word + 1;  // mark: volatile adds
    const cuda::atomic_ref<int, cuda::thread_scope_device> atomic(*words);
    if (how == Impatient::loads_and_stores) atomic.store(atomic.load() + 1);  // mark: loads and stores
    if (how == Impatient::adds_behind_a_flag) {
        volatile int* const taken = &words[1];
        while (*taken != 0 || atomicCAS(&words[1], 0, 1) != 0) {
        }
        __threadfence();
        *word = *word + 1;
        __threadfence();
        *taken = 0;
    }
    if (how == Impatient::tries_once) {
        const int before = atomicAdd(words, 0);
        atomicCAS(words, before, before + 1);
    }
    if (how == Impatient::tries_again)
        for (int before = *word, found; (found = atomicCAS(words, before, before + 1)) != before;)
            before = found;
    if (how == Impatient::adds_behind_a_lock) {
        while (atomicCAS(&words[1], 0, 1) != 0) {
        }
        __threadfence();
        *word = *word + 1;
        __threadfence();
        atomicExch(&words[1], 0);
    }
    if (how == Impatient::passes_on) {
        const int turn = atomicAdd(&words[1], 1);
        while (*word != turn) {
        }
        *word = turn + 1;
    }
    if (how == Impatient::sets_once && *word == 0) *word = 1;
}
void volatile_between_blocks(Impatient how, int* words, int blocks) {
    volatile_between_blocks_kernel<<<blocks, 32>>>(how, words);
}

__global__ void read_only_while_written_kernel(ReadOnly how, const int* in, int* out) {
    const int t = threadIdx.x;
    if (how == ReadOnly::of_output_before) out[t] = 2 * __ldg(&out[t]);
    if (how == ReadOnly::of_input) out[t] = __ldg(&in[t]);
    if (how == ReadOnly::of_output) {
        out[t] = in[t];  // mark: written before __ldg
        __syncthreads();
        if (t > 0) out[64 + t] = __ldg(&out[t - 1]);  // mark: __ldg of output
    }
}
void read_only_while_written(ReadOnly how, const int* in, int* out) {
    const bool twice = how == ReadOnly::in_two_launches;
    read_only_while_written_kernel<<<1, 64>>>(twice ? ReadOnly::of_input : how, in, out);
    if (twice) read_only_while_written_kernel<<<1, 64>>>(ReadOnly::of_input, out, out + 64);
}

// A block passes its sum to the next one: the flag must not overtake the two sums.
__global__ void chained_scan_kernel(Fence fence, ReadFence read_fence, const int* in, int* out,
                                    unsigned* ticket, int* flags, int* sums) {
    __shared__ unsigned block;
    const unsigned t = threadIdx.x;
    if (t == 0) block = atomicAdd(ticket, 1u);
    __syncthreads();
    if (t == 0 && block > 0)
        while (atomicAdd(&flags[block - 1], 0) == 0) {
        }
    if (t == 0 && read_fence == ReadFence::by_asker) __threadfence();
    if (t == 40 && read_fence == ReadFence::by_another_before_the_barrier) __threadfence();
    __syncthreads();
    if (t < 2 && read_fence == ReadFence::by_readers) __threadfence();
    if (t == 40 && read_fence == ReadFence::by_another) __threadfence();
    int sum = in[block];
    if (t < 2 && block > 0) {
        const int* const before = &sums[2 * (block - 1) + t];
        if (read_fence == ReadFence::reads_volatile)
            sum += *static_cast<const volatile int*>(before);  // mark: chained scan reads volatile
        else
            sum += *before;  // mark: chained scan reads
    }
    if (t < 2) sums[2 * block + t] = sum;  // mark: chained scan writes
    if (fence == Fence::block) __threadfence_block();
    if (fence == Fence::by_all || (fence == Fence::by_some && t != 1)) __threadfence();
    __syncthreads();
    if (fence == Fence::device) __threadfence();
    if (t == 0) atomicExch(&flags[block], 1);
    if (t == 0) out[block] = sum;
}
void chained_scan(Fence fence, ReadFence read_fence, const int* in, int* out, unsigned* ticket, int* flags,
                  int* sums, int blocks) {
    chained_scan_kernel<<<blocks, 64>>>(fence, read_fence, in, out, ticket, flags, sums);
}

// The first block to start writes and signals the second, which signals the third.
__global__ void relay_kernel(Relay second, int* data, int* flags, unsigned* ticket, int* out) {
    __shared__ unsigned block;
    const unsigned t = threadIdx.x;
    if (t == 0) block = atomicAdd(ticket, 1u);
    __syncthreads();
    if (block == 0 && t == 0) {
        *data = 1;  // mark: relay writes
        __threadfence();
        atomicExch(&flags[0], 1);
    }
    if (block == 1) {
        const unsigned asking = second == Relay::asks ? 0 : second == Relay::does_not_ask ? 64 : 32;
        if (t == asking)
            while (atomicAdd(&flags[0], 0) == 0) {
            }
        if (second == Relay::another_thread_asks_before_a_barrier) __syncthreads();
        if (t == 0) {
            __threadfence();
            atomicExch(&flags[1], 1);
        }
    }
    if (block == 2 && t == 0) {
        while (atomicAdd(&flags[1], 0) == 0) {
        }
        __threadfence();
        *out = *data;  // mark: relay reads
    }
}
void relay(Relay second, int* data, int* flags, unsigned* ticket, int* out) {
    relay_kernel<<<3, 64>>>(second, data, flags, ticket, out);
}

// Each block counts itself, and one resets the count by a plain write: the last block, its thread 1, which
// has not counted, or the first block, after which others count.
__global__ void set_back_kernel(SetBack by, unsigned* count) {
    __shared__ unsigned before;
    if (threadIdx.x == 0) before = atomicAdd(count, 1u);  // mark: set back counts
    __syncthreads();
    const unsigned block = by == SetBack::first_block ? 0 : gridDim.x - 1;
    if (before == block && threadIdx.x == (by == SetBack::another_thread ? 1 : 0))
        *count = 0;  // mark: set back writes
}
void set_back(SetBack by, unsigned* count) { set_back_kernel<<<3, 64>>>(by, count); }

__global__ void read_flag_kernel(int* flag, int* out) {
    if (blockIdx.x == 0)
        atomicExch(flag, 1);
    else
        *out = *flag;  // mark: reads a flag plainly
}
void read_flag(int* flag, int* out) { read_flag_kernel<<<2, 1>>>(flag, out); }

// A single word has both state and value, so nothing can be overtaken.
__global__ void look_back_scan_kernel(const int* in, int* out, unsigned* ticket, unsigned long long* states) {
    constexpr unsigned long long partial = 1ull << 32, complete = 2ull << 32;
    __shared__ unsigned block;
    if (threadIdx.x == 0) block = atomicAdd(ticket, 1u);
    __syncthreads();
    if (threadIdx.x != 0) return;
    const unsigned own = in[block];
    unsigned before = 0;
    if (block > 0) {
        atomicExch(&states[block], partial | own);
        for (unsigned b = block; b-- > 0;) {
            unsigned long long state;
            do {
                state = *static_cast<volatile unsigned long long*>(&states[b]);
            } while (state < partial);
            before += static_cast<unsigned>(state);
            if (state >= complete) break;
        }
    }
    atomicExch(&states[block], complete | (before + own));
    out[block] = before + own;
}
void look_back_scan(const int* in, int* out, unsigned* ticket, unsigned long long* states, int blocks) {
    look_back_scan_kernel<<<blocks, 32>>>(in, out, ticket, states);
}

__global__ void fill_kernel(int* data) { data[threadIdx.x] = threadIdx.x; }
__global__ void shift_kernel(int* data) {
    data[blockDim.x + threadIdx.x] = data[(threadIdx.x + 1) % blockDim.x];
}
void two_launches(int* data, int threads) {
    fill_kernel<<<1, threads>>>(data);
    shift_kernel<<<1, threads>>>(data);
}

__global__ void dynamic_neighbour_kernel(int* out, bool barrier) {
    extern __shared__ int line[];
    line[threadIdx.x] = threadIdx.x;
    if (barrier) __syncthreads();
    out[threadIdx.x] = line[(threadIdx.x + 1) % blockDim.x];
}
void dynamic_neighbour(int* out, int threads, bool barrier) {
    dynamic_neighbour_kernel<<<1, threads, threads * sizeof(int)>>>(out, barrier);
}

__global__ void unwritten_shared_kernel(int* out) {
    __shared__ int tile[32];
    if (threadIdx.x > 0) tile[threadIdx.x] = 1;  // mark: writes all but one
    __syncthreads();
    out[threadIdx.x] = tile[31 - threadIdx.x];  // mark: unwritten shared
}
void unwritten_shared(int* out) { unwritten_shared_kernel<<<1, 32>>>(out); }
__global__ void unordered_shared_kernel(int* out) {
    __shared__ int tile[64];
    tile[threadIdx.x] = 1;
    out[threadIdx.x] = tile[63 - threadIdx.x];
}
void unordered_shared(int* out) { unordered_shared_kernel<<<1, 64>>>(out); }
__global__ void unwritten_used_kernel(Use use, const int* in, int* out) {
    __shared__ int before[1], tile[32];
    const int t = threadIdx.x;
    tile[t] = in[t];
    if (t == 32)
        before[0] = 0;  // never happens, but the compiler must not know that the variable is never written
    __syncthreads();
    const int left = t > 0 ? tile[t - 1] : before[0];  // mark: unwritten used
    int result = tile[t];
    if (use == Use::sum) result += left;
    if (use == Use::choice && left > 0) result = 7;
    if (use == Use::maximum) result = max(result, left);
    out[t] = result;
}
void unwritten_used(Use use, const int* in, int* out) { unwritten_used_kernel<<<1, 32>>>(use, in, out); }
__global__ void unwritten_dynamic_kernel(int* out) {
    extern __shared__ int line[];
    out[threadIdx.x] = line[threadIdx.x];
}
void unwritten_dynamic(int* out) { unwritten_dynamic_kernel<<<1, 32, 32 * sizeof(int)>>>(out); }
__global__ void unwritten_global_kernel(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x]; }
void unwritten_global(const int* in, int* out) { unwritten_global_kernel<<<1, 32>>>(in, out); }

__global__ void exchange_or_add_kernel(int* data, bool exchange, int more) {
    if (exchange)
        atomicExch(data, 1);
    else
        atomicAdd(data, more);  // mark: adds atomically
    data[1] = 2;
}
void exchange_or_add(int* data, bool exchange, int more) {
    exchange_or_add_kernel<<<1, 1>>>(data, exchange, more);
}

__global__ void polled_late_kernel(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        for (int i = 0; i < 1000; ++i) *out = i;
        *data = 1;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {
        }
        __threadfence();
        out[1] = *data;
    }
}
void polled_late(int* data, int* flag, int* out) { polled_late_kernel<<<2, 1>>>(data, flag, out); }

__global__ void indexed_kernel(Index how, int* data) {
    const int t = threadIdx.x, b = blockIdx.x;
    if (how == Index::updated) {
        data[b + t] += 1;
        return;
    }
    data[how == Index::of_its_own ? b * 64 + t : how == Index::added ? b + t : b * 64 + t / 32] = t;
}
void indexed(Index how, int* data) { indexed_kernel<<<2, 64>>>(how, data); }

__global__ void pixels_kernel(int* out, int width, int height, bool each) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (each ? x < width && y < height : y * width + x < width * height) out[y * width + x] = x;
}
void pixels(int* out, int width, int height, bool each) {
    pixels_kernel<<<dim3((width + 7) / 8, (height + 7) / 8), dim3(8, 8)>>>(out, width, height, each);
}
__global__ void stretches_kernel(int* out, int apart) {
    for (int i = 0; i < 4; ++i) out[threadIdx.x * apart + i] = i;
}
__global__ void one_double_kernel(double* out) { out[0] = threadIdx.x; }
void one_double(double* out) { one_double_kernel<<<1, 32>>>(out); }
void stretches(int* out, int apart) { stretches_kernel<<<1, 32>>>(out, apart); }

template <class T>
__device__ int access(Verb verb, char* at) {
    T* const word = reinterpret_cast<T*>(at);
    volatile T* const impatient = word;
    switch (verb) {
        case read:
            return static_cast<int>(*word);
        case write:
            *word = 1;
            return 0;
        case volatile_read:
            return static_cast<int>(*impatient);
        case volatile_write:
            *impatient = 1;
            return 0;
        default:
            return 0;
    }
}
template <cuda::thread_scope scope>
__device__ int access_atomically(Verb verb, char* at) {
    const cuda::atomic_ref<int, scope> word(*reinterpret_cast<int*>(at));
    if (verb == update_in_block) return word.fetch_add(1, cuda::memory_order_relaxed);
    if (verb == atomic_read || verb == atomic_read_in_block) return word.load(cuda::memory_order_relaxed);
    word.store(1, cuda::memory_order_relaxed);
    return 0;
}
__global__ void interpret_kernel(const Operation* program, int length, char* global, int* out) {
    __shared__ __align__(16) char shared[place_bytes];
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < place_bytes) shared[threadIdx.x] = 0;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < length; ++i) {
        const Operation op = program[thread * length + i];
        char* const at = op.place < shared_place ? global + op.place : shared + (op.place - shared_place);
        if (op.verb == barrier)
            __syncthreads();
        else if (op.verb == warp)
            __syncwarp(op.mask);
        else if (op.verb == update)
            sum += atomicAdd(reinterpret_cast<int*>(at), 1);
        else if (op.verb == atomic_read || op.verb == atomic_write)
            sum += access_atomically<cuda::thread_scope_device>(op.verb, at);
        else if (op.verb >= update_in_block)
            sum += access_atomically<cuda::thread_scope_block>(op.verb, at);
        else if (op.size == 1)
            sum += access<unsigned char>(op.verb, at);
        else if (op.size == 2)
            sum += access<unsigned short>(op.verb, at);
        else if (op.size == 4)
            sum += access<int>(op.verb, at);
        else if (op.size == 8)
            sum += access<long long>(op.verb, at);
    }
    out[thread] = sum;
}
void interpret(const Operation* program, int length, char* global, int* out, int blocks, int threads) {
    interpret_kernel<<<blocks, threads>>>(program, length, global, out);
}

}  // namespace kernels
