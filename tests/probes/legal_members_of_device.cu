// A structure made on the host, with an operator of the device.
class V { public: V(float* d) : d_(d) {} __device__ float& operator[](int i) { return d_[i]; } private: float* d_; };
__global__ void k(V v) { v[threadIdx.x] = 1; } void h(float* p) { V v(p); k<<<1, 2>>>(v); k<<<1, 2>>>(V(p)); k<<<1,2>>>(p); }
