// One array of three planes, which take turns as the plane behind, in the middle and in front, so that
// nothing is moved: usual in geophysics.
#include "stencil.cuh"

constexpr int TILE = 32, OUT = TILE - 2;

template <class T>
__global__ void march(const T* in, T* out, int n, Coefficients<T> c) {
    __shared__ T planes[3][TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = (int)blockIdx.x * OUT + tx - 1, y = (int)blockIdx.y * OUT + ty - 1;
    const int z0 = blockIdx.z * OUT, z1 = z0 + OUT < n ? z0 + OUT : n;
    const bool valid = x >= 0 && x < n && y >= 0 && y < n;
    const bool mine = valid && tx > 0 && tx < TILE - 1 && ty > 0 && ty < TILE - 1;
    for (int d = 0; d < 2; ++d) {
        const int z = z0 - 1 + d;
        planes[d][ty][tx] = valid && z >= 0 && z < n ? in[(z * n + y) * n + x] : T(0);
    }
    for (int z = z0, p = 0; z < z1; ++z, p = (p + 1) % 3) {
        T(&below)[TILE][TILE] = planes[p];
        T(&middle)[TILE][TILE] = planes[(p + 1) % 3];
        T(&above)[TILE][TILE] = planes[(p + 2) % 3];
        above[ty][tx] = valid && z + 1 < n ? in[((z + 1) * n + y) * n + x] : T(0);
        __syncthreads();
        if (mine) {
            T r = middle[ty][tx];
            if (x > 0 && x < n - 1 && y > 0 && y < n - 1 && z > 0 && z < n - 1)
                r = c.c0 * r + c.c1 * middle[ty][tx - 1] + c.c2 * middle[ty][tx + 1] + c.c3 * middle[ty - 1][tx] +
                    c.c4 * middle[ty + 1][tx] + c.c5 * below[ty][tx] + c.c6 * above[ty][tx];
            out[(z * n + y) * n + x] = r;
        }
        __syncthreads();
    }
}

template <class T>
void sweep(const T* in, T* out, int n, Coefficients<T> c) {
    if (n == 0) return;
    const int blocks = (n + OUT - 1) / OUT;
    march<<<dim3(blocks, blocks, blocks), dim3(TILE, TILE)>>>(in, out, n, c);
    check(cudaGetLastError());
}
