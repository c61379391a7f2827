// CUDA's own structures.
__global__ void k(float* p) { float4 v = make_float4(1,2,3,4); float2 w{1,2}; p[0] = v.x + w.y; dim3 d(1, 2); p[1] = d.x; uint3 u = threadIdx; p[2] = u.x; }
