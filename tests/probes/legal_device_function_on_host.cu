// illegal: 'square' is a device function
__device__ float square(float x) { return x * x; } 
float h() { return square(2.0f); }
