// illegal: 'add' is a host function
template <class T> T add(T a, T b) { return a + b; }
__global__ void k(int* p) { p[0] = add(p[0], 1); }
