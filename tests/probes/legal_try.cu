// illegal: 'try'
void kern2(int*);
__global__ void k(int*p) { try { p[0] = 1; } catch (...) {} }
