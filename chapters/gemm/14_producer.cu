// 14 A producer: one warpgroup only fetches, two only multiply, and blocks stay for many tiles of C. Beyond
// the documents; CUTLASS calls it warp-specialized and persistent. Changed from 13: no __syncthreads() in the
// loop. A second barrier for each stage says when it is free, so that neither side waits for the other while
// some stages are full and others free, and the first tiles of the next tile of C come while the last one is
// stored. The warpgroup that only fetches gives its registers to those that multiply. Tiles of C are computed
// in groups of 16 rows of them: blocks that run together then want the same rows of A and columns of B, which
// the L2 cache has.
//
// Needs: sm_90a
#include "hopper.cuh"

using namespace hopper;

constexpr int bm = 128, bn = 256;   // rows and columns of C that a block computes at a time
constexpr int bk = 64;              // elements along K in a tile
constexpr int stages = 4;           // pairs of tiles on chip
constexpr int consumers = bm / 64;  // warpgroups that multiply; one more, the first, fetches
constexpr int threads = (1 + consumers) * 128;
constexpr int group = 16;  // rows of tiles of C that are worked off together

struct alignas(1024) Tiles {
    bf16 a[stages][bm][bk];
    bf16 b[stages][bn / 64][bk][64];
    Barrier full[stages], empty[stages];
};

/// The stages in turn. A barrier is in its first phase in the first round, of parity 0, and so on.
struct Stage {
    int index = 0, parity = 0;
    __device__ void operator++() {
        if (++index == stages) index = 0, parity ^= 1;
    }
};

/// The first row and column of a tile of C, of which there are high x wide: group by group, in each of them
/// column by column.
__device__ int2 place_in_c(int tile, int high, int wide) {
    // kata: begin
    // Which group of rows of tiles is it, and which tile of the group? The last group may have fewer rows.
    kata::open();
    return {};
    // kata: end
}

__global__ void __launch_bounds__(threads, 1)
    producer(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* c, int m,
             int n, int k) {
    // kata: begin
    // Barriers as in 13, and for each stage a second one, `empty`, which each consumer arrives at when it has
    // multiplied the stage. The first warpgroup gives registers; its thread 0 goes through all tiles of C
    // that are this block's, every gridDim.x-th, and all phases of each: it waits until the stage is empty,
    // and asks for its tiles. The other warpgroups take registers, go through the same tiles and phases, wait
    // until the stage is full, multiply, and when the products of the phase before are done, one thread of
    // each arrives at that stage's `empty`. After the last phase of a tile they wait for all products,
    // arrive for the last stage, and store.
    kata::open();
    // kata: end
}

void gemm_bf16(const bf16* a, const bf16* b, float* c, int m, int n, int k) {
    // kata: begin
    // As in 13, with as many blocks as there are multiprocessors: cudaDevAttrMultiProcessorCount.
    kata::open();
    // kata: end
}
