// illegal: 'c' is __constant__
__constant__ int c; __global__ void k(int* p) { c = 3; }
