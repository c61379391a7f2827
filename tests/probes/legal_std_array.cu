// illegal: 'operator[]' of the C++ library | of the C++ library
#include <array>
__global__ void k(float* p) { std::array<float,3> a{}; p[0]=a[1]; }
