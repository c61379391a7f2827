// illegal: 'v' is a variable of the device
__device__ int v[3]; void h(int* p) { int n = sizeof v; for (int i = 0; i < n; ++i) p[i] += v[i]; v[0]++; v[1] = 2; }
