// illegal: 'f' is a variable of the host
const float f[3] = {1,2,3}; const int dx[] = {1,2}; 
__global__ void k(float*p) { p[0] = f[1] + dx[0]; }
