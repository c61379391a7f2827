// Shuffles bring the cells to the left and right from the neighbouring lanes, and only the ends of a warp
// load theirs; a block marches through four planes: usual where few loads are wanted.
#include "stencil.cuh"

constexpr int WARPS = 8, PLANES = 4;

template <typename T, int W>
struct alignas(sizeof(T) * W) Vec {
    T v[W];
};

template <typename T, int W>
__global__ __launch_bounds__(32 * WARPS) void march(const T* in, T* out, const int n, const Coefficients<T> c) {
    const int lane = threadIdx.x;
    const int x = (blockIdx.x * 32 + lane) * W;
    const int y = blockIdx.y * WARPS + threadIdx.y;
    if (y >= n) return;  // a whole warp
    const bool there = x < n;
    const auto get = [&](int z, int row) {
        Vec<T, W> r{};
        if (there && z >= 0 && z < n && row >= 0 && row < n)
            r = *reinterpret_cast<const Vec<T, W>*>(in + (z * n + row) * n + x);
        return r;
    };
    const int z0 = blockIdx.z * PLANES;
    Vec<T, W> back = get(z0 - 1, y), mid = get(z0, y);
#pragma unroll
    for (int k = 0; k < PLANES; ++k) {
        const int z = z0 + k;
        if (z >= n) return;
        const Vec<T, W> front = get(z + 1, y), up = get(z, y - 1), down = get(z, y + 1);
        T left = __shfl_up_sync(0xffffffffu, mid.v[W - 1], 1);
        T right = __shfl_down_sync(0xffffffffu, mid.v[0], 1);
        if (lane == 0 && x > 0) left = in[(z * n + y) * n + x - 1];
        if (lane == 31 && x + W < n) right = in[(z * n + y) * n + x + W];
        Vec<T, W> r = mid;
        if (y > 0 && y < n - 1 && z > 0 && z < n - 1) {
#pragma unroll
            for (int s = 0; s < W; ++s)
                if (x + s > 0 && x + s < n - 1)
                    r.v[s] = c.c0 * mid.v[s] + c.c1 * (s == 0 ? left : mid.v[s > 0 ? s - 1 : 0]) +
                             c.c2 * (s == W - 1 ? right : mid.v[s < W - 1 ? s + 1 : s]) + c.c3 * up.v[s] +
                             c.c4 * down.v[s] + c.c5 * back.v[s] + c.c6 * front.v[s];
        }
        if (there) *reinterpret_cast<Vec<T, W>*>(out + (z * n + y) * n + x) = r;
        back = mid;
        mid = front;
    }
}

template <class T>
void sweep(const T* in, T* out, int n, Coefficients<T> c) {
    if (n == 0) return;
    const dim3 block(32, WARPS);
    if (n % 4 == 0)
        march<T, 4><<<dim3(ceil_div(n, 128), ceil_div(n, WARPS), ceil_div(n, PLANES)), block>>>(in, out, n, c);
    else
        march<T, 1><<<dim3(ceil_div(n, 32), ceil_div(n, WARPS), ceil_div(n, PLANES)), block>>>(in, out, n, c);
    check(cudaGetLastError());
}
