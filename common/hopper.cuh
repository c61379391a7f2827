// Features of Hopper GPUs (sm_90a) for matrix products, each as a function around its PTX: barriers in shared
// memory that count bytes (mbarrier), copies of whole tiles by TMA, the tensor memory accelerator, and
// products of matrices that lie in shared memory (wgmma). Sections 9.7.9.27, 9.7.13.15 and 9.7.15 of the PTX
// ISA 8.x describe them. Not to be changed: grading takes the repository's own.
#pragma once
#include "kata.hpp"

#include <cstdint>
#include <cuda.h>
#include <cuda_bf16.h>
#include <type_traits>

namespace hopper {

using bf16 = __nv_bfloat16;

__device__ inline uint32_t shared(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

// ---- Barriers in shared memory (mbarrier) ----------------------------------------------------------------
//
// A barrier counts arrivals and the bytes of copies. Its phase ends when all that it expects has come. It
// expects as many arrivals in the next phase. A wait names the parity of the phase: 0 for the first one, 1
// for the second, 0 for the third.

using Barrier = uint64_t;

/// Initialises the barrier for this number of arrivals in each phase. Called by one thread, before
/// publish_barriers() and __syncthreads().
__device__ inline void init(Barrier& barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(&barrier)), "r"(arrivals) : "memory");
}

/// Makes initialised barriers known to TMA.
__device__ inline void publish_barriers() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// Waits until the phase of this parity has ended. In a new barrier a phase of parity 1 counts as ended: the
/// one before the first.
__device__ inline void wait(Barrier& barrier, int parity) {
    asm volatile(
        "{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@done bra.uni over;\nbra.uni again;\nover:\n}" ::"r"(shared(&barrier)),
        "r"(parity)
        : "memory");
}

__device__ inline void arrive(Barrier& barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared(&barrier)) : "memory");
}

/// Arrives at the barrier. The phase then ends only when copies have also brought this number of bytes.
__device__ inline void expect(Barrier& barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(&barrier)), "r"(bytes)
                 : "memory");
}

// ---- TMA, the tensor memory accelerator ------------------------------------------------------------------

/// Describes matrices to TMA, for describe() and describe_stack(): the lengths of their axes and of a box,
/// each with the fastest axis first.
template <class T, int rank>
void describe_boxes(CUtensorMap& map, const T* first, const cuuint64_t (&lengths)[rank],
                    const cuuint32_t (&box)[rank], CUtensorMapDataType type) {
    // The runtime looks up this function of the driver, once. So the driver's library need not be linked.
    static void* const encode = [] {
        void* function = nullptr;
        cudaDriverEntryPointQueryResult found;
        check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault,
                                               &found));
        check(found == cudaDriverEntryPointSuccess ? cudaSuccess : cudaErrorCallRequiresNewerDriver);
        return function;
    }();
    cuuint64_t pitch[rank] = {lengths[0] * sizeof(T)};  // the last one is not used
    for (int i = 1; i < rank; ++i) pitch[i] = pitch[i - 1] * lengths[i];
    cuuint32_t step[rank];
    for (cuuint32_t& one : step) one = 1;
    const CUresult encoded = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
        &map, type, rank, const_cast<T*>(first), lengths, pitch, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    check(encoded == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue);
}

template <class T>
constexpr CUtensorMapDataType type_of_elements =
    std::is_same_v<T, bf16> ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;

/// Describes a row-major matrix of height x width to TMA, which then fetches boxes of high x wide elements
/// of it. A row of a box has 128 bytes at most, and a row of the matrix is a multiple of 16 bytes. In shared
/// memory a box begins at a multiple of 1024 bytes, and is swizzled: in row r, the 16 bytes number c lie at
/// number c ^ (r % 8), so that eight rows of one column are in all 32 banks.
template <class T>
void describe(CUtensorMap& map, const T* matrix, cuuint64_t height, cuuint64_t width, cuuint32_t high,
              cuuint32_t wide, CUtensorMapDataType type = type_of_elements<T>) {
    describe_boxes<T, 2>(map, matrix, {width, height}, {wide, high}, type);
}

/// Likewise describes a stack of matrices, one after the other. A box has elements of one matrix only: beyond
/// its end there are zeros, and not the next matrix.
template <class T>
void describe_stack(CUtensorMap& map, const T* matrices, cuuint64_t count, cuuint64_t height,
                    cuuint64_t width, cuuint32_t high, cuuint32_t wide) {
    describe_boxes<T, 3>(map, matrices, {width, height, count}, {wide, high, 1}, type_of_elements<T>);
}

/// Called by one thread: begins to copy the box whose first element is in row y and column x of the matrix.
/// Elements outside of the matrix become zero, and their bytes still count at the barrier.
__device__ inline void fetch(void* tile, const CUtensorMap& matrix, int x, int y, Barrier& full) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
        "%3}], [%4];" ::"r"(shared(tile)),
        "l"(&matrix), "r"(x), "r"(y), "r"(shared(&full))
        : "memory");
}

/// Likewise copies from a matrix of a stack.
__device__ inline void fetch(void* tile, const CUtensorMap& stack, int x, int y, int matrix, Barrier& full) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
        "%3, %4}], [%5];" ::"r"(shared(tile)),
        "l"(&stack), "r"(x), "r"(y), "r"(matrix), "r"(shared(&full))
        : "memory");
}

/// Likewise copies to the same place in each block of a cluster of this number of blocks. The bytes count at
/// the barrier of each block.
template <int cluster>
__device__ void fetch_for_all(void* tile, const CUtensorMap& matrix, int x, int y, Barrier& full) {
    if constexpr (cluster == 1)
        fetch(tile, matrix, x, y, full);
    else
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::"
            "cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared(tile)),
            "l"(&matrix), "r"(x), "r"(y), "r"(shared(&full)), "h"(uint16_t{(1 << cluster) - 1})
            : "memory");
}

/// Makes what a thread has stored in shared memory known to TMA.
__device__ inline void publish_stores() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/// Called by one thread: begins to copy a box from shared memory to row y and column x of the matrix. Writes
/// nothing outside of the matrix.
__device__ inline void put(const CUtensorMap& matrix, const void* tile, int x, int y) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];\n"
        "cp.async.bulk.commit_group;" ::"l"(&matrix),
        "r"(shared(tile)), "r"(x), "r"(y)
        : "memory");
}

/// Waits until TMA has read all but at most this number of the thread's boxes from shared memory.
template <int boxes>
__device__ void wait_puts() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(boxes) : "memory");
}

// ---- Products of a warpgroup (wgmma) ---------------------------------------------------------------------
//
// A warpgroup, 128 threads, begins products and goes on; the tensor cores read both factors from shared
// memory. Neither the factors nor the registers of the sum may be accessed until wait_products() has
// returned.

/// The place of a tile in units of 16 bytes, in the low 14 bits of a descriptor. In a cluster an address also
/// has the number of the block, from bit 24 on, which is cut off.
__device__ inline uint64_t place_of(const void* tile) { return (shared(tile) & 0x3ffff) / 16; }

/// A tile of A for multiply(), or of transposed B for multiply_transposed(), of 64 columns, 128 bytes a row.
/// Bits 32 and up: eight rows are 1024 bytes; bits 62 and 63: swizzled by 128 bytes. One product takes 16
/// columns; the next 16 are 32 bytes further, and are described by the sum of this and 2.
__device__ inline uint64_t tile_of_a(const void* tile) {
    return place_of(tile) | 1ull << 16 | 1024ull / 16 << 32 | 1ull << 62;
}

/// A tile of B: boxes of 64 columns, each box_bytes after the one before it. One product takes 16 rows; the
/// next 16 are 16 * 128 bytes further, and are described by the sum of this and 128.
__device__ inline uint64_t tile_of_b(const void* tile, uint64_t box_bytes) {
    return place_of(tile) | box_bytes / 16 << 16 | 1024ull / 16 << 32 | 1ull << 62;
}

/// Called before the first multiply(), and after each other use of its sum.
__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

/// Makes the products begun since the previous group a group.
__device__ inline void end_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

/// Waits until at most this number of groups is unfinished.
template <int groups>
__device__ void wait_products() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
}

/// Likewise waits, and keeps the compiler from moving a use of this sum before the wait. The compiler
/// does not know that the tensor cores write to these registers.
template <int groups, int length>
__device__ __forceinline__ void wait_products(float (&sum)[length]) {
    wait_products<groups>();
#pragma unroll
    for (int i = 0; i < length; ++i) asm volatile("" : "+f"(sum[i])::"memory");
}

/// The elements that a thread of a warpgroup holds of a sum of 64 x n. Element [4 * j + 2 * h + i] of thread
/// t is in row t / 32 * 16 + t % 32 / 4 + 8 * h, column 8 * j + t % 4 * 2 + i.
template <int n>
using Sum = float[n / 2];

/// Begins sum += a * b, of 64 x 16 and 16 x n elements.
__device__ inline void multiply(Sum<64>& d, uint64_t a, uint64_t b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
        "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
        "%32, %33, 1, 1, 1, 0, 1;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]),
          "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]),
          "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]),
          "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
        : "l"(a), "l"(b));
}
__device__ inline void multiply(Sum<128>& d, uint64_t a, uint64_t b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
        "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, "
        "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, "
        "%53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, 1, 1, 1, 0, 1;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]),
          "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]),
          "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]),
          "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),
          "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]),
          "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]),
          "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),
          "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
        : "l"(a), "l"(b));
}
__device__ inline void multiply(Sum<256>& d, uint64_t a, uint64_t b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
        "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, "
        "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, "
        "%53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, "
        "%70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, "
        "%87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, "
        "%103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, "
        "%117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
        "%128, %129, 1, 1, 1, 0, 1;"
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
        : "l"(a), "l"(b));
}

/// Begins sum += a * bᵀ, of 64 x 16 elements and 16 x n, whose transpose lies in shared memory, or sum = a *
/// bᵀ if `more` is false.
__device__ inline void multiply_transposed(Sum<128>& d, uint64_t a, uint64_t b, bool more) {
    asm volatile(
        "{\n.reg .pred more;\nsetp.ne.b32 more, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
        "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, "
        "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, "
        "%53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, more, 1, 1, 0, 0;\n}"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]),
          "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]),
          "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]),
          "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),
          "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]),
          "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]),
          "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),
          "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
        : "l"(a), "l"(b), "r"(int{more}));
}

/// The elements that a thread of a warpgroup holds of 64 x 16 elements of A in registers: pairs of neighbours
/// in a row. Pair [k] is in the places that elements 2 * k and 2 * k + 1 of a Sum<16> have.
using Pairs = uint32_t[4];

/// Returns two floats, rounded to bfloat16, as a pair.
__device__ inline uint32_t pair(float first, float second) {
    uint32_t both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
    return both;
}

/// Begins sum += a * b, with a in registers, which may not be accessed until the product is done.
__device__ inline void multiply(Sum<64>& d, const Pairs& a, uint64_t b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
        "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
        "{%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]),
          "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]),
          "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]),
          "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ inline void multiply(Sum<128>& d, const Pairs& a, uint64_t b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
        "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, "
        "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, "
        "%53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "{%64, %65, %66, %67}, %68, 1, 1, 1, 1;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]),
          "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]),
          "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]),
          "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),
          "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]),
          "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]),
          "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),
          "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

/// Stores the sums of warpgroups, each of them 64 rows below the one before, at (row, col) of a matrix of
/// height x width, as far as it has these elements. The threads of the first are 0 to 127, and so on. width
/// is even.
__device__ inline void store(float* matrix, int height, int width, int row, int col, const Sum<256>& sum,
                             int thread) {
    for (int j = 0; j < 32; ++j)
        for (int h = 0; h < 2; ++h) {
            const int y = row + thread / 32 * 16 + thread % 32 / 4 + 8 * h, x = col + 8 * j + thread % 4 * 2;
            if (y < height && x < width)
                *reinterpret_cast<float2*>(&matrix[static_cast<size_t>(y) * width + x]) =
                    float2{sum[4 * j + 2 * h], sum[4 * j + 2 * h + 1]};
        }
}

/// A warp's elements of C on their way from registers to TMA: 16 rows, swizzled as all boxes are.
using Patch = float[16][32];

/// Puts the 16 x n sums of a warp at (row, col) of a matrix. It fills one patch while TMA reads the other.
template <int length>
__device__ void put(const CUtensorMap& matrix, int row, int col, const float (&sum)[length],
                    Patch (&patches)[2]) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int first = 0; first < length; first += 16) {
        Patch& patch = patches[first / 16 % 2];
        if (lane == 0) wait_puts<1>();
        __syncwarp();
        for (int j = 0; j < 4; ++j)
            for (int h = 0; h < 2; ++h) {
                const int y = lane / 4 + 8 * h, number = (2 * j + lane % 4 / 2) ^ (y % 8);
                *reinterpret_cast<float2*>(&patch[y][number * 4 + lane % 2 * 2]) =
                    float2{sum[first + 4 * j + 2 * h], sum[first + 4 * j + 2 * h + 1]};
            }
        publish_stores();
        __syncwarp();
        if (lane == 0) put(matrix, patch, col + first * 2, row);
    }
}

// ---- Clusters of blocks -----------------------------------------------------------------------------------

/// The number of this block in its cluster.
__device__ inline int rank_in_cluster() {
    int rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

/// A barrier of all threads of the cluster. The lanes of a warp arrive together.
__device__ inline void sync_cluster() {
    __syncwarp();
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                     : "memory");
}

/// Arrives at the barrier that lies at the same place in another block of the cluster. With .release.cluster
/// it would first wait until all stores of the thread are visible to the whole GPU.
__device__ inline void arrive_in(Barrier& barrier, int block) {
    asm volatile(
        "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(shared(&barrier)),
        "r"(block)
        : "memory");
}

/// Returns the value at the same place in another block of the cluster.
__device__ inline float4 load_from(const float4& place, int block) {
    float4 v;
    asm volatile(
        "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %4, %5;\n"
        "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [there];\n}"
        : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
        : "r"(shared(&place)), "r"(block)
        : "memory");
    return v;
}

/// A launch in clusters of blocks.
struct ClusterLaunch {
    cudaLaunchAttribute attribute{};
    cudaLaunchConfig_t config{};

    ClusterLaunch(dim3 grid, int threads, int bytes, dim3 cluster) {
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim = {cluster.x, cluster.y, cluster.z};
        config.gridDim = grid;
        config.blockDim = threads;
        config.dynamicSmemBytes = bytes;
        config.attrs = &attribute;
        // Clusters of one block are launched without the attribute, with which the same kernel is slower on
        // an H100.
        config.numAttrs = cluster.x * cluster.y * cluster.z > 1 ? 1 : 0;
    }
    ClusterLaunch(const ClusterLaunch&) = delete;  // config points to attribute
};

/// Launches a kernel in clusters of blocks, each with more shared memory than 48 KiB.
template <class... Parameters>
void launch_in_clusters(void (*kernel)(Parameters...), dim3 grid, int threads, int bytes, dim3 cluster,
                        const std::type_identity_t<Parameters>&... arguments) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const ClusterLaunch launch(grid, threads, bytes, cluster);
    check(cudaLaunchKernelEx(&launch.config, kernel, arguments...));
}

/// Returns how many such clusters, side by side, run at a time. Clusters do not fit everywhere.
template <class... Parameters>
int clusters_at_once(void (*kernel)(Parameters...), int threads, int bytes, int cluster) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const ClusterLaunch launch(cluster, threads, bytes, cluster);
    int clusters = 0;
    check(cudaOccupancyMaxActiveClusters(&clusters, kernel, &launch.config));
    return clusters;
}

// ---- Named barriers
// -----------------------------------------------------------------------------------------
//
// A block has 16 barriers, of which __syncthreads() uses number 0. A call of another one states how many
// threads, in whole warps, the barrier is for: some of them wait, others only arrive and go on.

__device__ inline void wait_at(int barrier, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ inline void arrive_at(int barrier, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// ---- Registers -------------------------------------------------------------------------------------------
//
// All warps of a warpgroup together give up registers, down to this number a thread, or wait until each
// thread can have this number.

template <int registers>
__device__ void give_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers>
__device__ void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

// ---- Exponentials ----------------------------------------------------------------------------------------

/// Returns 2^x with a relative error of 2^-22 at most, or 0 if that is less than 2^-126. exp2f() returns
/// these small numbers, too, which takes three instructions more.
__device__ inline float power_of_two(float x) {
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
}

}  // namespace hopper
