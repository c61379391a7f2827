// illegal: 'atomicAdd' is for device code alone
int h(int* p) { atomicAdd(p, 1); return __popc(3); }
