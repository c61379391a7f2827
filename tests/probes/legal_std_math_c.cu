// CUDA has the functions of <cmath>, in std, too.
#include <cmath>
__global__ void k(float* p) { p[0] = std::fmax(p[0], p[1]) + std::abs(p[1]) + std::sqrt(p[2]); using std::sqrt; p[1] = sqrt(p[1]); }
