// Endless loops and waits, and blocks that wait for one another.
#include "kata.hpp"
#include "kernels.hpp"

namespace kernels {

__global__ void endless_kernel(volatile int* out) {
    for (unsigned i = 0; i != threadIdx.x + 1; i += 2) *out = i;  // mark: endless
}
void endless(int* out) { endless_kernel<<<1, 2>>>(out); }

__global__ void endless_without_memory_kernel() {
    if (threadIdx.x == blockDim.x - 1)  // mark: endless without memory
        for (;;) {
        }
}
void endless_without_memory(int threads) { endless_without_memory_kernel<<<1, threads>>>(); }

// Not volatile, so the flag is read only once.
__global__ void spin_on_plain_kernel(const int* flag) {
    while (*flag == 0) {
    }
}
void spin_on_plain(int* flag) { spin_on_plain_kernel<<<1, 2>>>(flag); }

__global__ void loop_beside_vote_kernel(int* flag, int* out) {
    const int t = threadIdx.x;
    volatile int rounds = 1;
    int set = 0;
    for (int i = 0; t == 0 && i < 100; ++i) set += atomicAdd(flag, 0);
    if (t == 1 && *flag == 0)
        while (rounds > 0) {
        }
    out[t] = __any_sync(~0u, set);
}
void loop_beside_vote(int* flag, int* out) { loop_beside_vote_kernel<<<1, 32>>>(flag, out); }

__global__ void spin_on_volatile_kernel(volatile int* flag) {
    while (*flag == 0) {
    }
}
void spin_on_volatile(int* flag) { spin_on_volatile_kernel<<<1, 2>>>(flag); }

__global__ void spin_on_atomic_kernel(int* flag) {
    while (atomicAdd(flag, 0) == 0) {  // mark: spin on atomic
    }
}
void spin_on_atomic(int* flag) { spin_on_atomic_kernel<<<1, 2>>>(flag); }

__global__ void count_for_ever_kernel(int* count) {
    int i = 0;
    while (i < 16) atomicAdd(count, 1);  // mark: count for ever
}
void count_for_ever(int* count) { count_for_ever_kernel<<<1, 64>>>(count); }

__global__ void rounds_kernel(int* out, int rounds) {
    __shared__ int part[64];
    part[threadIdx.x] = 1;
    for (int i = 0; i < rounds; ++i) {
        __syncthreads();
        const int next = part[(threadIdx.x + 1) % 64];
        __syncthreads();
        part[threadIdx.x] = next;
    }
    if (threadIdx.x == 0) out[0] = part[0];
}
void rounds(int* out, int rounds, int blocks) { rounds_kernel<<<blocks, 64>>>(out, rounds); }

// The first warp waits and eventually gives up; the second one raises the flag after its work, or never.
__global__ void wait_for_work_kernel(int* flag, int polls, unsigned work, bool raises) {
    if (threadIdx.x == 0)
        for (int i = 0; i < polls && atomicAdd(flag, 0) == 0; ++i) {
        }
    if (threadIdx.x != 32) return;
    unsigned made = 1;
    for (unsigned i = 0; i < work; ++i) made = 5 * made + i;
    if (raises) atomicExch(flag, made == 0 ? 2 : 1);
}
void wait_for_work(int* flag, int polls, unsigned work, bool raises) {
    wait_for_work_kernel<<<1, 64>>>(flag, polls, work, raises);
}

// Passes a sum from block to block: wrong with block indices, because blocks start in any order; right with
// tickets.
__device__ void pass_on(unsigned block, int* flags, int* out) {
    int before = 0;
    if (block > 0)
        while ((before = atomicAdd(&flags[block - 1], 0)) == 0)  // mark: wait for block before
            __nanosleep(20);
    out[block] = before;
    atomicExch(&flags[block], before + 1);
}
__global__ void wait_for_block_before_kernel(int* flags, int* out) {
    if (threadIdx.x == 0) pass_on(blockIdx.x, flags, out);
}
void wait_for_block_before(int* flags, int* out, int blocks) {
    wait_for_block_before_kernel<<<blocks, 32>>>(flags, out);
}
__global__ void wait_for_ticket_before_kernel(unsigned* ticket, int* flags, int* out) {
    __shared__ unsigned block;
    if (threadIdx.x == 0) block = atomicAdd(ticket, 1u);
    __syncthreads();
    if (threadIdx.x == 0) pass_on(block, flags, out);
}
void wait_for_ticket_before(unsigned* ticket, int* flags, int* out, int blocks) {
    wait_for_ticket_before_kernel<<<blocks, 32>>>(ticket, flags, out);
}

// The same with a whole warp that polls and votes until all lanes are done.
__global__ void warp_waits_for_ticket_before_kernel(unsigned* ticket, int* flags, int* out) {
    __shared__ unsigned block;
    if (threadIdx.x == 0) block = atomicAdd(ticket, 1u);
    __syncthreads();
    const unsigned mine = block;
    while (__any_sync(~0u, mine > 0 && threadIdx.x == 7 && atomicAdd(&flags[mine - 1], 0) == 0)) {
    }
    if (threadIdx.x == 0) pass_on(mine, flags, out);
}
void warp_waits_for_ticket_before(unsigned* ticket, int* flags, int* out, int blocks) {
    warp_waits_for_ticket_before_kernel<<<blocks, 32>>>(ticket, flags, out);
}

// All blocks wait for one another, so all must be resident.
__global__ void meet_kernel(unsigned* arrived) {
    atomicAdd(arrived, 1u);
    while (atomicAdd(arrived, 0u) < gridDim.x) {
    }
}
void meet(unsigned* arrived, int blocks) { meet_kernel<<<blocks, 1>>>(arrived); }

// The block that starts first stores how many others have arrived when it continues after its second barrier.
// They wait for it with a single thread, or with a barrier before each poll.
__global__ void wait_for_first_kernel(unsigned* ticket, int* arrived, int* flag, int* seen, bool together) {
    __shared__ unsigned block;
    if (threadIdx.x == 0) block = atomicAdd(ticket, 1u);
    __syncthreads();
    __syncthreads();
    if (together && block > 0)
        while (!__syncthreads_or(threadIdx.x == 0 && atomicAdd(flag, 0) != 0)) {
        }
    if (threadIdx.x > 0) return;
    if (block == 0) {
        *seen = atomicAdd(arrived, 0);
        atomicExch(flag, 1);
    } else {
        atomicAdd(arrived, 1);
        while (atomicAdd(flag, 0) == 0) {
        }
    }
}
void wait_for_first(unsigned* ticket, int* arrived, int* flag, int* seen, int blocks, bool together) {
    wait_for_first_kernel<<<blocks, 64>>>(ticket, arrived, flag, seen, together);
}

// After its second barrier each block waits for the one that started before it.
__global__ void wait_in_a_chain_kernel(unsigned* ticket, int* flags) {
    __shared__ unsigned block;
    if (threadIdx.x == 0) block = atomicAdd(ticket, 1u);
    __syncthreads();
    __syncthreads();
    if (threadIdx.x > 0) return;
    while (block > 0 && atomicAdd(&flags[block - 1], 0) == 0) {
    }
    atomicExch(&flags[block], 1);
}
void wait_in_a_chain(unsigned* ticket, int* flags, int blocks) {
    wait_in_a_chain_kernel<<<blocks, 64>>>(ticket, flags);
}

// One block counts how often a value changes between two loads, the other block changes it.
__global__ void look_twice_kernel(int* value, int* changes, int looks) {
    for (int i = 0; i < looks; ++i) {
        const int one = atomicAdd(value, static_cast<int>(blockIdx.x));
        const int other = atomicAdd(value, static_cast<int>(blockIdx.x));
        if (blockIdx.x == 0) *changes += one != other;
    }
}
void look_twice(int* value, int* changes, int looks) { look_twice_kernel<<<2, 1>>>(value, changes, looks); }

// A thread waits for a later one: this hangs if the scheduler never runs the later one.
__global__ void wait_for_flag_in_block_kernel(int* out) {
    __shared__ int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1) atomicExch(&flag, 1);
    while (atomicAdd(&flag, 0) == 0) {
    }
    out[threadIdx.x] = 1;
}
void wait_for_flag_in_block(int* out, int threads) { wait_for_flag_in_block_kernel<<<1, threads>>>(out); }

}  // namespace kernels
