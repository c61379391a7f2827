// illegal: is a host function
struct S { int a; S(int x) : a(x) {} S() {} };
__global__ void k(int*p) { S s(3); p[0] = s.a; }
