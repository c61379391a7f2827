// illegal: 'f' is a device function
__device__ float f(float x) { return x; } void h(float* p) { auto g = [](float x) { return f(x); }; p[0] = g(1); }
