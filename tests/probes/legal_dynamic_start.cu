// illegal: a variable of the device must start with a constant
int f(); __device__ int a = f();
