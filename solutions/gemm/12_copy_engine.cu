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
    __shared__ Tiles tiles;
    __shared__ Barrier full;
    const int first_row = blockIdx.y * bm, first_col = blockIdx.x * bn;
    // One arrival a phase: that of thread 0, when it announces the bytes. The bytes are counted apart.
    if (threadIdx.x == 0) {
        init(full, 1);
        publish_barriers();
    }
    // No thread may wait at a barrier that is not initialised yet.
    __syncthreads();

    Sum<bn> sum = {};
    for (int phase = 0; phase < ceil_div(k, bk); ++phase) {
        if (threadIdx.x == 0) {
            // Bytes of boxes that hang over the matrix count, too: zeros arrive for them.
            expect(full, sizeof tiles);
            // x and then y: a column of the matrix, and a row.
            fetch(tiles.a, a, phase * bk, first_row, full);
            for (int i = 0; i < bn / 64; ++i) fetch(tiles.b[i], b, first_col + i * 64, phase * bk, full);
        }
        // The barrier ends one phase for each pair of tiles, the first one with parity 0. All threads wait:
        // the wait also makes the tiles visible to them.
        wait(full, phase % 2);
        // Tensor cores access the registers of the sum on their own: all that threads have written there must
        // be complete.
        begin_products();
        // A product takes 16 places along K. Descriptors count units of 16 bytes: the next 16 columns of A
        // are 32 bytes further, 2 units, and the next 16 rows of B 16 * 128 bytes, 128 units.
        for (int i = 0; i < bk / 16; ++i)
            multiply(sum, tile_of_a(tiles.a) + i * 2, tile_of_b(tiles.b, sizeof tiles.b[0]) + i * 128);
        end_products();
        // The next tiles go to the same place, so no product may read it any more.
        wait_products<0>();
        __syncthreads();  // before the next tiles come
    }
    store(c, m, n, first_row, first_col, sum, threadIdx.x);
    // kata: end
}

void gemm_bf16(const bf16* a, const bf16* b, float* c, int m, int n, int k) {
    // kata: begin
    if (m == 0 || n == 0) return;
    if (k == 0) {  // a matrix without elements cannot be described
        check(cudaMemset(c, 0, sizeof(float) * m * n));
        return;
    }
    CUtensorMap map_a, map_b;
    // Rows of a box are 128 bytes at most: 64 elements, so the tile of B is four boxes.
    describe(map_a, a, m, k, bm, bk);
    describe(map_b, b, k, n, bk, 64);
    const dim3 grid(ceil_div(n, bn), ceil_div(m, bm));
    copy_engine<<<grid, threads>>>(map_a, map_b, c, m, n, k);
    check(cudaGetLastError());
    // kata: end
}
