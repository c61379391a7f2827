// illegal: is a host function
class V { public: V(float* d) : d_(d) {} float& operator[](int i) { return d_[i]; } private: float* d_; };
__global__ void k(V v) { v[threadIdx.x] = 1; }
