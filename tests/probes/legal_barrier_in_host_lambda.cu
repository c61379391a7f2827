// illegal: '__syncthreads' is for device code alone
void h(int* p) { auto f = [=] { __syncthreads(); }; f(); }
