// 13 Stages: three pairs of tiles are in flight while a fourth is multiplied, and two warpgroups share a tile
// of B. Beyond the documents; the multistage pipeline of CUTLASS on Hopper. Changed from 12: a block computes
// 128 x 256 elements of C, so that an element which is fetched serves 85 products instead of 51. The tiles of
// phase + 3 are fetched as soon as all have multiplied those of phase - 1, whose place they take. Products
// are waited for one phase later: the tensor cores go from one phase to the next without a gap.
//
// Needs: sm_90a
#include "bf16.cuh"
#include "hopper.cuh"

using namespace hopper;

constexpr int bm = 128, bn = 256;  // rows and columns of C that a block computes
constexpr int bk = 64;             // elements along K in a tile
constexpr int stages = 4;          // pairs of tiles on chip
constexpr int threads = bm / 64 * 128;

struct alignas(1024) Tiles {
    bf16 a[stages][bm][bk];
    bf16 b[stages][bn / 64][bk][64];
    Barrier full[stages];
};

__global__ void __launch_bounds__(threads, 1)
    staged(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* c, int m,
           int n, int k) {
    // kata: begin
    // As in 12, with `stages` barriers and pairs of tiles. Before the loop, thread 0 fetches the tiles of
    // the first stages - 1 phases, if there are as many. In the loop, wait for the stage of the phase, whose
    // parity changes each time that all stages have had their turn; begin its products, for the warpgroup's
    // 64 rows of A; wait until only this group is unfinished; and after a barrier of the block, thread 0
    // fetches those of the phase that takes the place of the one before. After the loop one group is left to
    // wait for.
    kata::open();
    // kata: end
}

void gemm_bf16(const bf16* a, const bf16* b, float* c, int m, int n, int k) {
    // kata: begin
    // As in 12; the shared memory is dynamic and more than 48 KiB, which has to be requested.
    // Also required: any m from 0 on; n and k are multiples of 8, also 0.
    kata::open();
    // kata: end
}
