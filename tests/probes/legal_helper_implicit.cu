// What a compiler writes by itself is for both sides.
struct S { int a = 3; };
__global__ void k(int*p) { S s; p[0] = s.a; S t = s; s = t; }
