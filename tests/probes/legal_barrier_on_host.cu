// illegal: '__syncthreads' is for device code alone
void h() { __syncthreads(); }
