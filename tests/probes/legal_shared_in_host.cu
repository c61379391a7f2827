// illegal: host code has no __shared__ variables
void h() { __shared__ int x[3]; x[0] = 1; }
