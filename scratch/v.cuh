#pragma once
#include <cuda_runtime.h>
#include <cuda_pipeline.h>
#include <cstdio>
#include <vector>
#include <string>
struct V { const char* name; void (*run)(const float*, float*, int, int); bool even_only; };
extern std::vector<V>& all();
struct Reg { Reg(const char* n, void (*r)(const float*, float*, int, int), bool e = false) { all().push_back({n, r, e}); } };
__host__ __device__ constexpr int cd(long a, long b) { return int((a + b - 1) / b); }
template <int n> struct alignas(n * 4) Pack { float at[n]; };

// order 0: x first; 1: y first; k>1: panels of k tile rows, down first
template <int order> __device__ inline bool where(int& bx, int& by, int nx, int ny) {
    if constexpr (order == 0) { bx = blockIdx.x; by = blockIdx.y; return true; }
    else {
        const int id = blockIdx.y * gridDim.x + blockIdx.x;  // launched as nx, ny
        if constexpr (order == 1) { by = id % ny; bx = id / ny; return true; }
        else {
            const int panel = id / (order * nx), in = id % (order * nx), high = min(order, ny - panel * order);
            by = panel * order + in % high; bx = in / high; return true;
        }
    }
}
// hint: 1: stores cs, 2: loads cs, 3 both, 4: loads L2::256B, 5: 4 + stores cs
template <int hint> __device__ inline Pack<4> ld(const float* p) {
    if constexpr (hint == 2 || hint == 3) { float4 v = __ldcs(reinterpret_cast<const float4*>(p)); return {v.x, v.y, v.z, v.w}; }
    else if constexpr (hint == 4 || hint == 5) { Pack<4> v; asm volatile("ld.global.nc.L2::256B.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.at[0]), "=f"(v.at[1]), "=f"(v.at[2]), "=f"(v.at[3]) : "l"(p)); return v; }
    else return *reinterpret_cast<const Pack<4>*>(p);
}
template <int hint> __device__ inline void st(float* p, const Pack<4>& v) {
    if constexpr (hint == 1 || hint == 3 || hint == 5) __stcs(reinterpret_cast<float4*>(p), make_float4(v.at[0], v.at[1], v.at[2], v.at[3]));
    else *reinterpret_cast<Pack<4>*>(p) = v;
}


template <bool shifted, int P, int down, int line, int async, int L, int order, int hint, int minb, int threads>
__global__ void __launch_bounds__(threads, minb) newk(const float* __restrict__ in, float* __restrict__ out, int rows, int columns) {
    constexpr int across = shifted ? (P % L == 0 ? 4 * P - 4 : 4 * P - 4) : 4 * P;
    constexpr int above = shifted ? line : 0, high = above + down, extra = shifted ? line - 1 : 0;
    constexpr int step = 4 * P + 1;
    extern __shared__ Pack<4> in_s[];
    int bx, by; where<order>(bx, by, cd(columns, across), cd(rows + extra, down));
    const int first_row = by * down - above, first_column = bx * across;
    const int lo = max(shifted && rows % line == 0 ? above : 0, -first_row), hi = min(high, rows - first_row);
    const int width = min(across, columns - first_column), total = rows * columns;
    {
        const int p0 = threadIdx.x % L, y0 = threadIdx.x / L;
        constexpr int nr = (high + threads / L - 1) / (threads / L), nq = (P + L - 1) / L;
        Pack<4> got[nr][nq];
        bool ok[nr][nq];
#pragma unroll
        for (int r = 0; r < nr; ++r) {
            const int y = y0 + r * (threads / L);
            const bool inside = (y >= lo) & (y < hi);
            const int begin = (first_row + y) * columns + first_column, first = shifted ? begin & ~3 : begin;
#pragma unroll
            for (int q = 0; q < nq; ++q) {
                const int from = first + 4 * (p0 + q * L);
                ok[r][q] = inside & (from < begin + width) & (!shifted | (from + 4 <= total)) & (P % L == 0 | p0 + q * L < P);
                if constexpr (async) { if (ok[r][q]) __pipeline_memcpy_async(&in_s[y / 4 * step + y % 4 * P + p0 + q * L], &in[from], 16); }
                else if (ok[r][q]) got[r][q] = ld<hint>(&in[from]);
            }
        }
        if constexpr (!async)
#pragma unroll
        for (int r = 0; r < nr; ++r)
#pragma unroll
            for (int q = 0; q < nq; ++q) { const int y = y0 + r * (threads / L); if (ok[r][q]) in_s[y / 4 * step + y % 4 * P + p0 + q * L] = got[r][q]; }
    }
    if constexpr (shifted) {  // the last pack of the matrix sticks out
        const int y = rows - 1 - first_row, p = ((total & ~3) - (((rows - 1) * columns + first_column) & ~3)) / 4;
        if (threadIdx.x < total % 4 && y < high && p >= 0 && p < P)
            in_s[y / 4 * step + y % 4 * P + p].at[threadIdx.x] = in[(total & ~3) + threadIdx.x];
    }
    if constexpr (async) { __pipeline_commit(); __pipeline_wait_prior(0); }
    __syncthreads();

    constexpr int cols = threads / 8;  // multiple of 32
    const int c = threadIdx.x / 8, l = threadIdx.x % 8;
    const int behind = shifted ? (first_column + c) % line * (rows % line) % line : 0;
    const int x = above - behind + 4 * l;
    int at[4];
    for (int s = 0; s < 4; ++s) {
        const int y = x + ((s - x) & 3);
        const int shift = shifted ? ((first_row + s) * columns) & 3 : 0;
        at[s] = 4 * (y / 4 * step + s * P) + shift + c;
    }
    const float* words = reinterpret_cast<const float*>(in_s);
#pragma unroll
    for (int a = 0; a < across; a += cols)
#pragma unroll
        for (int h = 0; h < down; h += 32) {
            const int out_column = first_row + x + h;
            if (a + c >= width) continue;
            Pack<4> pack;
            for (int s = 0; s < 4; ++s) pack.at[s] = words[at[s] + a + h * step];
            if constexpr (shifted)
                for (int by2 = 2; by2 > 0; by2 /= 2) {
                    const Pack<4> was = pack;
                    for (int s = 0; s < 4; ++s) pack.at[s] = behind & by2 ? was.at[(s - by2) & 3] : was.at[s];
                }
            float* to = &out[(first_column + a + c) * rows + out_column];
            if (out_column >= 0 && out_column + 4 <= rows) st<hint>(to, pack);
            else if (shifted)
                for (int s = 0; s < 4; ++s) if (out_column + s >= 0 && out_column + s < rows) to[s] = pack.at[s];
        }
}
template <bool shifted, int P, int down, int line, int async, int L, int order, int hint, int minb, int threads>
void run_new(const float* in, float* out, int rows, int columns) {
    constexpr int across = shifted ? 4 * P - 4 : 4 * P, above = shifted ? line : 0, high = above + down;
    const auto k = newk<shifted, P, down, line, async, L, order, hint, minb, threads>;
    const int bytes = (high / 4) * (4 * P + 1) * 16;
    static bool set = (cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), true);
    (void)set;
    k<<<dim3(cd(columns, across), cd(rows + (shifted ? line - 1 : 0), down)), threads, bytes>>>(in, out, rows, columns);
}
#define N(sh, p, dn, li, as, L, od, hi, mb, th) static Reg r_##sh##_##p##_##dn##_##li##_##as##_##L##_##od##_##hi##_##mb##_##th("new " #sh " packs " #p " down " #dn " line " #li " async " #as " lanes " #L " order " #od " hint " #hi " minb " #mb " thr " #th, run_new<sh, p, dn, li, as, L, od, hi, mb, th>, !sh);

// the kernel of the tree
template <int n, int across, int tile, int line, int order>
__global__ void __launch_bounds__(256) oldk(const float* __restrict__ in, float* __restrict__ out, int rows, int columns) {
    constexpr int threads = 256;
    constexpr int packs = across / n, packs_down = tile / n;
    __shared__ Pack<n> in_s[line + tile][packs];
    int bx, by; where<order>(bx, by, cd(columns, across), cd(rows + line - 1, tile));
    const int first_row = by * tile - line, first_column = bx * across;
    const int p = threadIdx.x % packs, column = first_column + p * n;
    const int first_needed = rows % line == 0 ? line : 0;
#pragma unroll
    for (int i = 0; i < line + tile; i += threads / packs) {
        const int y = i + threadIdx.x / packs, row = first_row + y;
        if (y >= first_needed && row >= 0 && row < rows && column < columns)
            in_s[y][p ^ (y / n % packs)] = *reinterpret_cast<const Pack<n>*>(&in[row * columns + column]);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < across; i += threads / packs_down) {
        const int y = i + threadIdx.x / packs_down, out_row = first_column + y;
        const int behind = out_row % line * (rows % line) % line;
        const int x = line - behind + threadIdx.x % packs_down * n, out_column = first_row + x;
        if (out_row < columns && out_column >= 0 && out_column < rows) {
            Pack<n> pack;
            for (int s = 0; s < n; ++s) pack.at[s] = in_s[x + s][(y / n) ^ (x / n % packs)].at[y % n];
            *reinterpret_cast<Pack<n>*>(&out[out_row * rows + out_column]) = pack;
        }
    }
}
template <int n, int across, int tile, int line, int order>
void run_old(const float* in, float* out, int rows, int columns) {
    oldk<n, across, tile, line, order><<<dim3(cd(columns, across), cd(rows + line - 1, tile)), 256>>>(in, out, rows, columns);
}
#define O(n, ac, ti, li, od) static Reg o_##n##_##ac##_##ti##_##li##_##od("old n " #n " " #ac "x" #ti " line " #li " order " #od, run_old<n, ac, ti, li, od>, n == 4);
