// illegal: 'flag' is a variable of the device
__device__ int flag; void h() { if (flag) return; for (int i = 0; i < flag; ++i) {} }
