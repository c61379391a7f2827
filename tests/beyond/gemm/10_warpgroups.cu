// Needs: sm_90a
//
// 10 Warpgroups: four warps multiply 64 x 8 by 8 x 256 elements in one asynchronous instruction, and the copy
// engine fetches whole tiles. Only for compute capability 9.0, compiled for sm_90a, and with inline PTX.
//
// Changed against 09: one warpgroup only fetches, the others only multiply, and neither waits for the other
// as long as tiles are ahead; the second factor comes straight from shared memory; a block works off many
// tiles. n and k must be multiples of four; call step 09 for others. NVIDIA H100 80GB HBM3, TF32: 4096³ 399
// TFLOP/s, 1.00 of cuBLAS; 8192³ 395, 0.97; 16384³ 351, 0.95. Groups of 8 rows instead of 2: 0.96, 0.89,
// 0.62.
#include "gemm.cuh"

#include <cstdint>
#include <cuda.h>
#include <cuda_runtime.h>

// wgmma takes its second operand along K, as A lies. B does not lie so, but comes through registers. So the
// instruction computes the transpose: its 64 rows are columns of C, its 256 columns are rows of C.
constexpr int bm = 256, bn = 128;  // rows and columns of C that a block computes
constexpr int bk = 32;     // elements along K that are on chip at a time: the 128 bytes of a swizzled row
constexpr int stages = 4;  // pairs of tiles on chip
constexpr int consumers = bn / 64;  // warpgroups that multiply; one more, the first, fetches
constexpr int threads = (1 + consumers) * 128;
constexpr int group = 2;  // rows of tiles that are worked off together

struct Tiles {
    float a[stages][bm][bk];           // swizzled: 16 bytes number c of row r lie at number c ^ (r % 8)
    float b[stages][bn / 32][bk][32];  // likewise
    uint64_t full[stages], empty[stages];
};

__device__ uint32_t shared(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void wait(uint64_t& barrier, int parity) {
    asm volatile(
        "{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@done bra.uni over;\nbra.uni again;\nover:\n}" ::"r"(shared(&barrier)),
        "r"(parity)
        : "memory");
}

__device__ void arrive(uint64_t& barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared(&barrier)) : "memory");
}

__device__ void fetch(void* tile, const CUtensorMap& matrix, int x, int y, uint64_t& full) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
        "%3}], [%4];" ::"r"(shared(tile)),
        "l"(&matrix), "r"(x), "r"(y), "r"(shared(&full))
        : "memory");
}

// d += a · b, of 64 x 8 and 8 x 256 elements
__device__ void multiply(float (&d)[128], const uint32_t (&a)[4], uint64_t b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
        "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, "
        "%39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, "
        "%58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, "
        "%77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, "
        "%127}, "
        "{%128, %129, %130, %131}, %132, 1, 1, 1;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]),
          "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]),
          "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]),
          "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),
          "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]),
          "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]),
          "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),
          "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]),
          "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]),
          "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]),
          "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]),
          "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]),
          "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), "+f"(d[96]), "+f"(d[97]), "+f"(d[98]),
          "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]), "+f"(d[104]), "+f"(d[105]),
          "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]), "+f"(d[112]),
          "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]),
          "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]),
          "+f"(d[127])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

__global__ void __launch_bounds__(threads, 1)
    warpgroups(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* c, int m,
               int n, int k) {
    extern __shared__ __align__(1024) unsigned char raw[];
    auto& s = reinterpret_cast<Tiles&>(raw);
    const int phases = (k + bk - 1) / bk, tiles_m = (m + bm - 1) / bm, tiles_n = (n + bn - 1) / bn;
    if (threadIdx.x == 0) {
        for (int i = 0; i < stages; ++i) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(&s.full[i])));
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(&s.empty[i])),
                         "r"(consumers));
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    const auto place = [&](int tile, int& row, int& col) {
        const int in_group = tile % (group * tiles_n), first = tile / (group * tiles_n) * group;
        const int high = min(group, tiles_m - first);
        row = (first + in_group % high) * bm, col = in_group / high * bn;
    };

    int stage = 0, parity = 0;
    const auto advance = [&] {
        if (++stage == stages) stage = 0, parity ^= 1;
    };
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x != 0) return;
        for (int tile = blockIdx.x; tile < tiles_m * tiles_n; tile += gridDim.x) {
            int row, col;
            place(tile, row, col);
            for (int phase = 0; phase < phases; ++phase, advance()) {
                wait(s.empty[stage], parity ^ 1);
                asm volatile(
                    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(&s.full[stage])),
                    "r"((bm + bn) * bk * 4)
                    : "memory");
                fetch(s.a[stage], a, phase * bk, row, s.full[stage]);
                for (int i = 0; i < bn / 32; ++i)
                    fetch(s.b[stage][i], b, col + i * 32, phase * bk, s.full[stage]);
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        const int t = threadIdx.x - 128, lane = t % 32;
        const int x = t / 32 * 16 + lane / 4,
                  y = lane % 4;  // the thread's place in a fragment of the tile of B
        for (int tile = blockIdx.x; tile < tiles_m * tiles_n; tile += gridDim.x) {
            int row, col;
            place(tile, row, col);
            float d[128] = {};
            for (int phase = 0; phase < phases; ++phase, advance()) {
                wait(s.full[stage], parity);
                uint32_t f[bk / 8][4];
                for (int i = 0; i < bk / 8; ++i)
                    for (int j = 0; j < 4; ++j) {
                        const int fx = x + j % 2 * 8, fy = i * 8 + y + j / 2 * 4;
                        f[i][j] =
                            __float_as_uint(s.b[stage][fx / 32][fy][(fx % 32 / 4 ^ fy % 8) * 4 + fx % 4]);
                    }
                asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
                // The tile of A: address / 16, 1024 / 16 from eight rows to the next, swizzled over 128
                // bytes.
                const uint64_t tile_a = shared(s.a[stage]) / 16 | 1ull << 16 | 64ull << 32 | 1ull << 62;
                for (int i = 0; i < bk / 8; ++i) multiply(d, f[i], tile_a + i * 2);
                asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::
                                 : "memory");
                if (t % 128 == 0) arrive(s.empty[stage]);
            }
            for (int i = 0; i < 128; ++i) {
                const int r = row + i / 4 * 8 + lane % 4 * 2 + i % 2, q = col + x + i / 2 % 2 * 8;
                if (r < m && q < n) c[r * n + q] = d[i];
            }
        }
    }
}

// How the copy engine finds a tile of `high` rows of 32 elements of a matrix
CUtensorMap tensor_map(const float* matrix, int height, int width, int high) {
    static const auto encode = [] {
        void* entry = nullptr;
        cudaDriverEntryPointQueryResult result;
        check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault,
                                               &result));
        return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
    }();
    CUtensorMap map;
    const cuuint64_t size[] = {static_cast<cuuint64_t>(width), static_cast<cuuint64_t>(height)},
                     pitch[] = {width * sizeof(float)};
    const cuuint32_t box[] = {32, static_cast<cuuint32_t>(high)}, step[] = {1, 1};
    const CUresult encoded =
        encode(&map, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 2, const_cast<float*>(matrix), size, pitch, box, step,
               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (encoded != CUDA_SUCCESS) check(cudaErrorInvalidValue);  // rows that are no multiple of 16 bytes
    return map;
}

// For n and k that are multiples of four: the copy engine takes no other rows.
void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    if (k == 0) {
        check(cudaMemsetAsync(c, 0, sizeof(float) * m * n));
        return;
    }
    int device, processors;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    check(cudaFuncSetAttribute(warpgroups, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Tiles)));
    warpgroups<<<processors, threads, sizeof(Tiles)>>>(tensor_map(a, m, k, bm), tensor_map(b, k, n, bk), c, m,
                                                       n, k);
    check(cudaGetLastError());
}
