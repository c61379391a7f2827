// illegal: 'count' is a variable of the device
__device__ int count; void reset() { count = 0; } 
