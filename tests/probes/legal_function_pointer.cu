// Pointers to functions of the device.
typedef float (*Fn)(float); __device__ float sq(float x) { return x * x; } __device__ Fn fn = sq; 
__global__ void k(float* p, Fn f) { p[0] = fn(p[1]); Fn g[2] = {sq, sq}; p[1] = g[0](1); }
