// float4 and int4 through reinterpret_cast and C casts, made in braces, and what a type is that has one as a member.
#include "kata.hpp"

#include <type_traits>
#include <utility>

static_assert(std::is_trivially_copyable_v<float4> && std::is_aggregate_v<float4>);

struct Particle {
    float4 place;
    float2 speed;
    int cell;
};

__global__ void k(const float* __restrict__ in, float* out, int4* numbers, uchar4* pixels) {
    float4 quad = reinterpret_cast<const float4*>(in)[threadIdx.x];
    quad.x += quad.w;
    reinterpret_cast<float4*>(&out[4 * threadIdx.x])[0] = quad;
    ((float4*)out)[0] = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
    numbers[0] = make_int4(1, 2, 3, 4);
    const float2 pair = make_float2(1, 2);
    pixels[0] = make_uchar4(1, 2, 3, 4);
    pixels[1] = {1, 2, 3, 4};
    pixels[2] = threadIdx.x > 3 ? uchar4{1, 2, 3, 4} : pixels[1];
    quad = {};
    quad = float4{.x = 1, .y = 2, .z = 3, .w = 4};
    float4 quads[2] = {1, 2, 3, 4, 5, 6, 7, 8};
    quads[0] = std::move(quads[1]);
    Particle particle{quad, pair, 3}, other = {quads[0], {1, 2}, 4};
    particle = other;
    memset(&other, 0, sizeof other);
    other = {quads[1], {3, 4}, 5};
    particle = Particle{other.place, {5, 6}, 7};
    reinterpret_cast<Particle*>(out)[threadIdx.x] = particle;
    float3 triple{1, 2, 3};
    out[0] = pair.x + triple.z;
}
void f(const float* in, float* out, int4* numbers, uchar4* pixels) { k<<<1, 32>>>(in, out, numbers, pixels); }
