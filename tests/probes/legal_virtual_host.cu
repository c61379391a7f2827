// illegal: is a host function
struct V { virtual __device__ int f() { return 1; } virtual ~V() {} }; 
__global__ void k(int*p) { V v; V* w = &v; p[0] = w->f(); }
