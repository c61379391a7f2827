// illegal: 'cout' is a stream of the host | of the C++ library
#include <iostream>
__global__ void k(float*p) { std::cout << p[0]; }
