// illegal: 'n' is a variable of the host | 'm' is a variable of the host
template <class T> __device__ T mymax(const T& a, const T& b) { return a < b ? b : a; }
const int n = 3; constexpr int m = 4;
__global__ void k(int* p) { p[0] = mymax(p[1], n); p[1] = mymax(p[1], m); }
