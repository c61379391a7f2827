// illegal: 'tmax' is a host function
template <class T>
constexpr T tmax(T a, T b) {
    return a < b ? b : a;
}
__global__ void k(int* p) { p[0] = tmax(p[1], 2); }
