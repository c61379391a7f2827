// The intrinsics of integers, in every form that they are overloaded for.
#include "kata.hpp"

__device__ __noinline__ int slow(int x) { return x + 1; }
static __device__ __forceinline__ int fast(int x) { return x + 2; }

__global__ void k(int* i, unsigned* u, long long* l, unsigned long long* ull) {
    i[0] = __popc(u[0]) + __popcll(ull[0]) + __ffs(i[0]) + __ffsll(l[0]) + __clz(i[0]) + __clzll(l[0]);
    u[0] = __brev(u[1]) + __byte_perm(u[0], u[1], 0x4210) + __sad(i[0], i[1], u[0]) + __usad(u[0], u[1], u[2]);
    ull[0] = __brevll(ull[1]) + __umul64hi(ull[0], ull[1]) + __mul64hi(l[0], l[1]);
    i[1] = __mul24(i[0], i[1]) + __mulhi(i[0], i[1]) + __hadd(i[0], i[1]) + __rhadd(i[0], i[1]);
    u[1] = __umul24(u[0], u[1]) + __umulhi(u[0], u[1]) + __uhadd(u[0], u[1]) + __urhadd(u[0], u[1]);
    u[2] = __funnelshift_l(u[0], u[1], 3) + __funnelshift_lc(u[0], u[1], 35) + __funnelshift_r(u[0], u[1], 3) +
           __funnelshift_rc(u[0], u[1], 35);
    const char4 c = make_char4(1, 2, 3, 4);
    const uchar4 uc = make_uchar4(1, 2, 3, 4);
    i[2] = __dp4a(i[0], i[1], i[2]) + __dp4a(c, c, 1) + __dp2a_lo(i[0], i[1], 2) + __dp2a_hi(make_short2(1, 2), c, 3);
    u[3] = __dp4a(u[0], u[1], u[2]) + __dp4a(uc, uc, 1u) + __dp2a_hi(u[0], u[1], 2u) + __dp2a_lo(make_ushort2(1, 2), uc, 3u);
    u[4] = __vadd2(u[0], u[1]) + __vadd4(u[0], u[1]) + __vsub4(u[0], u[1]) + __vmaxu4(u[0], u[1]) + __vmins2(u[0], u[1]) +
           __vabsdiffu4(u[0], u[1]) + __vsadu4(u[0], u[1]) + __vavgu4(u[0], u[1]) + __vcmpeq4(u[0], u[1]);
    i[3] = slow(fast(i[2]));
    u[5] = __reduce_add_sync(~0u, u[0]) + __reduce_min_sync(~0u, u[0]) + __reduce_max_sync(~0u, u[0]) +
           __reduce_and_sync(~0u, u[0]) + __reduce_or_sync(~0u, u[0]) + __reduce_xor_sync(~0u, u[0]);
    i[4] = __reduce_add_sync(~0u, i[0]) + __reduce_min_sync(~0u, i[0]) + __reduce_max_sync(~0u, i[0]);
}
void f(int* i, unsigned* u, long long* l, unsigned long long* ull) { k<<<1, 32>>>(i, u, l, ull); }
