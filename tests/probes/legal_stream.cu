// illegal: 'cout' is a variable of the host | of the C++ library
#include <iostream>
__global__ void k(float*p) { std::cout << p[0]; }
