// Statements of all sorts, and a union.
__global__ void k(int* p) { switch (p[0]) { case 1: p[1] = 2; break; default: p[1] = 3; } do { p[0]--; } while (p[0] > 0); p[2] = p[0] > 1 ? 2 : 3; union { float f; int i; } u; u.f = 2; p[3] = u.i; }
