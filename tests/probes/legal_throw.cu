// illegal: 'throw'
__global__ void k(int*p) { throw 1; }
