// A thread has four rows, and thus most of its neighbours along y: only the outermost rows go to shared
// memory. Planes are loaded ahead, and a block has fewer warps. Usual where registers are traded for
// occupancy.
#include "twice.cuh"

constexpr int ROWS = 4, WARPS = 8, TILE = ROWS * WARPS, RESULTS = TILE - 4, DEPTH = 32;

template <typename T, int W>
struct alignas(sizeof(T) * W) Vec {
    T v[W];
};

template <typename T, int W>
struct Piece {
    Vec<T, W> row[ROWS];
};

template <typename T, int W>
__global__ __launch_bounds__(32 * WARPS, 2) void twice(const T* __restrict__ in, T* __restrict__ out, const int n,
                                                       const Coefficients<T> c) {
    constexpr int side = (2 + W - 1) / W, columns = (32 - 2 * side) * W;
    __shared__ Vec<T, W> top[2][2][WARPS][32], bottom[2][2][WARPS][32];
    const int lane = threadIdx.x, warp = threadIdx.y;
    const int x = int(blockIdx.x) * columns + (lane - side) * W;
    const int y0 = int(blockIdx.y) * RESULTS + warp * ROWS - 2;
    const bool column_there = x >= 0 && x < n;
    const bool column_mine = column_there && lane >= side && lane < 32 - side;

    auto get = [&](int z) {
        Piece<T, W> p{};
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const int y = y0 + r;
            if (column_there && y >= 0 && y < n && z >= 0 && z < n)
                p.row[r] = *reinterpret_cast<const Vec<T, W>*>(in + (z * n + y) * n + x);
        }
        return p;
    };
    auto sweep_piece = [&](int z, int buffer, int which, const Piece<T, W>& back, const Piece<T, W>& mid,
                           const Piece<T, W>& ahead) {
        const Vec<T, W> above = bottom[buffer][which][warp > 0 ? warp - 1 : 0][lane];
        const Vec<T, W> below = top[buffer][which][warp < WARPS - 1 ? warp + 1 : warp][lane];
        Piece<T, W> swept;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const T west = __shfl_up_sync(0xffffffff, mid.row[r].v[W - 1], 1);
            const T east = __shfl_down_sync(0xffffffff, mid.row[r].v[0], 1);
            const bool keep = y0 + r <= 0 || y0 + r >= n - 1 || z <= 0 || z >= n - 1;
#pragma unroll
            for (int s = 0; s < W; s++) {
                const T here = mid.row[r].v[s];
                const T sum = c.c0 * here + c.c1 * (s > 0 ? mid.row[r].v[s - 1] : west) +
                              c.c2 * (s < W - 1 ? mid.row[r].v[s + 1] : east) +
                              c.c3 * (r > 0 ? mid.row[r - 1].v[s] : above.v[s]) +
                              c.c4 * (r < ROWS - 1 ? mid.row[r + 1].v[s] : below.v[s]) + c.c5 * back.row[r].v[s] +
                              c.c6 * ahead.row[r].v[s];
                swept.row[r].v[s] = keep || x + s <= 0 || x + s >= n - 1 ? here : sum;
            }
        }
        return swept;
    };

    const int begin = blockIdx.z * DEPTH, end = begin + DEPTH < n ? begin + DEPTH : n;
    Piece<T, W> back = get(begin - 2), mid = get(begin - 1), next = get(begin), once_back{}, once_mid{};
    for (int z = begin - 1; z <= end; z++) {
        const Piece<T, W> ahead = next;
        next = get(z + 2);
        const int b = z & 1;
        top[b][0][warp][lane] = mid.row[0];
        bottom[b][0][warp][lane] = mid.row[ROWS - 1];
        top[b][1][warp][lane] = once_mid.row[0];
        bottom[b][1][warp][lane] = once_mid.row[ROWS - 1];
        __syncthreads();
        const Piece<T, W> once = sweep_piece(z, b, 0, back, mid, ahead);
        const Piece<T, W> result = sweep_piece(z - 1, b, 1, once_back, once_mid, once);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const int in_tile = warp * ROWS + r, y = y0 + r;
            if (z > begin && column_mine && in_tile >= 2 && in_tile < TILE - 2 && y < n)
                *reinterpret_cast<Vec<T, W>*>(out + ((z - 1) * n + y) * n + x) = result.row[r];
        }
        back = mid;
        mid = ahead;
        once_back = once_mid;
        once_mid = once;
    }
}

template <class T>
void sweep_twice(const T* in, T* out, int n, Coefficients<T> c) {
    if (n == 0) return;
    constexpr int W = 16 / sizeof(T);
    const dim3 block(32, WARPS);
    if (n % W == 0) {
        const int columns = (32 - 2 * ((2 + W - 1) / W)) * W;
        twice<T, W><<<dim3((n + columns - 1) / columns, (n + RESULTS - 1) / RESULTS, (n + DEPTH - 1) / DEPTH), block>>>(in, out, n, c);
    } else {
        twice<T, 1><<<dim3((n + 27) / 28, (n + RESULTS - 1) / RESULTS, (n + DEPTH - 1) / DEPTH), block>>>(in, out, n, c);
    }
    check(cudaGetLastError());
}
