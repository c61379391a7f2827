// float4 and int4 through reinterpret_cast and C casts.
#include "kata.hpp"

__global__ void k(const float* __restrict__ in, float* out, int4* numbers, uchar4* pixels) {
    float4 quad = reinterpret_cast<const float4*>(in)[threadIdx.x];
    quad.x += quad.w;
    reinterpret_cast<float4*>(&out[4 * threadIdx.x])[0] = quad;
    ((float4*)out)[0] = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
    numbers[0] = make_int4(1, 2, 3, 4);
    const float2 pair = make_float2(1, 2);
    pixels[0] = make_uchar4(1, 2, 3, 4);
    float3 triple{1, 2, 3};
    out[0] = pair.x + triple.z;
}
void f(const float* in, float* out, int4* numbers, uchar4* pixels) { k<<<1, 32>>>(in, out, numbers, pixels); }
