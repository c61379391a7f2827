// Names for the elements of an array.
__global__ void k(int*p) { int a[3] = {1,2,3}; auto [x,y,z] = a; p[0] = x+y+z; }
