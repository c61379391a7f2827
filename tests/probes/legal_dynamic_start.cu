// illegal: a variable of the device starts with a constant
int f(); __device__ int a = f();
