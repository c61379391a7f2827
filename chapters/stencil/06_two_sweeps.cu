// 06 Two sweeps: a block computes the first sweep from the planes that arrive, and from that at once the
// second. Beyond the documents. Changed from 05: what the first sweep leaves never goes to memory, so that
// two sweeps read the grid once and write it once. A warp holds a row of 32 threads x 16 bytes: neighbours
// along x come from the warp (shuffle), along y from shared memory, along z from registers. The tile has a
// halo of two cells, which all threads sweep as they do the rest: of 20 rows 16 are results. The march is
// long, because two planes at either end of it are loaded and give no result.
#include "twice.cuh"

constexpr int warps = 20;  // warps of a block, each with a row of its tile
constexpr int chunk = 64;  // planes of results of a block
constexpr int few = 2;     // planes instead, if the grid is so small that multiprocessors would have no block
constexpr int halo = 2;    // cells around the results that two sweeps need

/// `width` neighbouring cells of a row. The alignment makes a load or a store of them one instruction.
template <class T, int width>
struct alignas(width * sizeof(T)) Cells {
    T at[width];
};

template <int width, int planes, class T>
__global__ void __launch_bounds__(warps * 32)
    two_sweeps(const T* __restrict__ in, T* __restrict__ out, int n, Coefficients<T> c) {
    // kata: begin
    // A block has `warps` rows of 32 threads, each with `width` neighbouring cells of a row, and marches
    // along z through `planes` planes of results. Around the results of its tile lie `halo` cells, or at the
    // ends of a row as many threads as hold them, whose threads load and sweep as all do, and store nothing.
    // As in 05, a thread keeps its cells of the planes before, here and after; as in 04, rows above and below
    // come from shared memory. The neighbours along x come from the next thread of the warp. Of each plane a
    // thread makes the first sweep, keeps three planes of that, too, and makes the second sweep one plane
    // behind. What lies outside of the grid must not be loaded, and the boundary stays in both sweeps.
    kata::open();
    // kata: end
}

template <class T>
void sweep_twice(const T* in, T* out, int n, Coefficients<T> c) {
    // kata: begin
    // two_sweeps<16 / sizeof(T), chunk, T> where every row begins at a multiple of 16 bytes,
    // two_sweeps<1, chunk, T> elsewhere. A block has 32 x `warps` threads, and results of fewer cells along x
    // and y, by its halo; along z `chunk`. If that makes fewer blocks than there are multiprocessors, `few`.
    // Also required: any n from 0 on; float and double.
    kata::open();
    // kata: end
}
