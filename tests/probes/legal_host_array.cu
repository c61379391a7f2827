// illegal: 'arr' is a variable of the host
int arr[3];
__global__ void k(int*p) { p[0] = arr[1]; }
