// Functions that the compiler generates are for host and device.
struct S { int a = 3; };
__global__ void k(int*p) { S s; p[0] = s.a; S t = s; s = t; }
