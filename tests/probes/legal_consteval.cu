// A function that is evaluated while compiling is never called.
consteval int f(int x) { return x; } __global__ void k(int* p) { p[0] = f(3); }
