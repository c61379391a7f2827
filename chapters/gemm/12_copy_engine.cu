// 12 The copy engine, TMA: one thread fetches whole tiles, and four warps together multiply them where they
// lie, in shared memory. Beyond the documents; after CUTLASS's kernels for Hopper and the PTX ISA's wgmma.
// Changed from 11: there a warp loaded fragments into registers, and multiplied them one pair after the
// other. Here a warpgroup, 128 threads, begins a product of 64 x 16 by 16 x 256 elements with one
// instruction, and goes on. No thread computes an address of an element: TMA, the tensor memory accelerator,
// knows where a matrix ends, and lays the tiles out as the products need them. A barrier in shared memory
// counts the bytes that have come. Nothing is fetched ahead: each of the three blocks on a multiprocessor
// waits for its tiles while the others multiply.
//
// Needs: sm_90a
#include "bf16.cuh"
#include "hopper.cuh"

using namespace hopper;

constexpr int bm = 64, bn = 256;  // rows and columns of C that a block computes
constexpr int bk = 64;            // elements along K in a tile: 128 bytes of a row
constexpr int threads = 128;      // a warpgroup

/// The target of TMA: a box of A, and four boxes of B, of 64 columns, side by side.
struct alignas(1024) Tiles {
    bf16 a[bm][bk];
    bf16 b[bn / 64][bk][64];
};

__global__ void __launch_bounds__(threads, 3)
    copy_engine(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* c, int m,
                int n, int k) {
    // kata: begin
    // Initialise a barrier for one arrival, that of thread 0. In each phase along K thread 0 announces the
    // bytes of both tiles and fetches the tile of A and the four boxes of B, and all threads wait for the
    // barrier; the parity is that of `phase`. Then the warpgroup multiplies: bk / 16 products in a group,
    // each 16 columns of A and 16 rows of B further, and waits for the group. All must have done so before
    // thread 0 fetches the next tiles. In the end store the sum.
    kata::open();
    // kata: end
}

void gemm_bf16(const bf16* a, const bf16* b, float* c, int m, int n, int k) {
    // kata: begin
    // With k = 0 there is no matrix to be described, and C is all zeros. Else describe A in boxes of bm x bk
    // and B in boxes of bk x 64, and launch as in 02, with the descriptions in place of the pointers.
    // Also required: any m from 0 on; n and k are multiples of 8, also 0.
    kata::open();
    // kata: end
}
