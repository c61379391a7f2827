// A block with a barrier instead of a warp with shuffles: four columns a thread as uchar4, plain loads into
// the ring, column sums in shared memory, the size at run time. Usual where one kernel serves any size and
// any GPU. An H200 needs 5.4 times as long for it as for the solution, which only a GPU build reports.
#include "grids.cuh"

constexpr int THREADS = 128, ROWS = 48, MAX = grids::max_blur_size;

__device__ uchar4 fetch(const unsigned char* in, int x, int y, int w, int h) {
    if (y < 0 || y >= h || x < 0 || x >= w) return make_uchar4(0, 0, 0, 0);
    const unsigned char* p = in + y * w + x;
    if (w % 4 == 0) return *reinterpret_cast<const uchar4*>(p);
    return make_uchar4(p[0], x + 1 < w ? p[1] : 0, x + 2 < w ? p[2] : 0, x + 3 < w ? p[3] : 0);
}

__global__ void box(const unsigned char* in, unsigned char* out, int w, int h, int s) {
    __shared__ uchar4 ring[2 * MAX + 1][THREADS];
    __shared__ int sums[2][4][THREADS];  // column c is [c % 4][c / 4], so that lanes access neighbours
    const int tx = threadIdx.x, halo = (s + 3) / 4;
    const int x = (blockIdx.x * (THREADS - 2 * halo) + tx - halo) * 4;
    const int y0 = blockIdx.y * ROWS, y1 = min(y0 + ROWS, h);
    const int rows = 2 * s + 1;

    for (int i = 0; i < rows; i++) ring[i][tx] = make_uchar4(0, 0, 0, 0);
    int4 c = make_int4(0, 0, 0, 0);
    uchar4 next = fetch(in, x, y0 - s, w, h);
    for (int y = y0 - s, i = 0; y < y1 + s; y++, i = (i + 1) % rows) {
        const uchar4 now = next, gone = ring[i][tx];
        ring[i][tx] = now;
        if (y + 1 < y1 + s) next = fetch(in, x, y + 1, w, h);  // in flight while this row is added
        c.x += now.x - gone.x;
        c.y += now.y - gone.y;
        c.z += now.z - gone.z;
        c.w += now.w - gone.w;
        const int row = y - s;
        if (row < y0) continue;

        int(*sum)[THREADS] = sums[row & 1];  // two of them, so that one barrier a row is enough
        sum[0][tx] = c.x;
        sum[1][tx] = c.y;
        sum[2][tx] = c.z;
        sum[3][tx] = c.w;
        __syncthreads();
        if (tx < halo || tx >= THREADS - halo) continue;
        const auto at = [&](int k) { return sum[(4 * tx + k) % 4][(4 * tx + k) / 4]; };
        int total = 0;
        for (int k = -s; k <= s; k++) total += at(k);
        const int high = min(row + s, h - 1) - max(row - s, 0) + 1;
        for (int k = 0; k < 4 && x + k < w; k++) {
            const int cols = min(x + k + s, w - 1) - max(x + k - s, 0) + 1;
            out[row * w + x + k] = total / (cols * high);
            if (k < 3) total += at(k + s + 1) - at(k - s);
        }
    }
}

void blur(const unsigned char* in, unsigned char* out, int width, int height, int blur_size) {
    if (width == 0 || height == 0) return;
    const int columns = (THREADS - 2 * ((blur_size + 3) / 4)) * 4;
    dim3 grid(ceil_div(width, columns), ceil_div(height, ROWS));
    box<<<grid, THREADS>>>(in, out, width, height, blur_size);
    check(cudaGetLastError());
}
