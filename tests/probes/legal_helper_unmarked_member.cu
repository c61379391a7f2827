// illegal: 'get' is a host function
struct S { int a; int get() const { return a; } };
__global__ void k(int*p, S s) { p[0] = s.get(); }
