// For header_conditional.cu.
#pragma once
__global__ inline void once(float* out) { out[0] = 1; }
inline void run_once(float* out) { once<<<1, 2>>>(out); }
