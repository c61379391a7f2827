// illegal: is a host function
struct C { float x, y; }; C operator+(C a, C b) { return {a.x + b.x, a.y + b.y}; }
__global__ void k(C* p) { p[0] = p[0] + p[1]; }
