// A range-based for over an array.
__global__ void k(int*p) { int s[3] = {1,2,3}; int t = 0; for (int x : s) t += x; p[0] = t; }
