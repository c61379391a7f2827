// Members for both sides.
struct M { float* d; int n; __host__ __device__ float& at(int i) { return d[i]; } }; 
__global__ void k(M m) { m.at(0) = 1; } 
void h(M m) { m.at(2) = 2; k<<<1,1>>>(m); }
