// Numbers that are known while compiling, of any type.
const float f = 2.5f; const int n = 3; constexpr float g = 1.5f; 
__global__ void k(float* p) { p[0] = n * g * f; }
