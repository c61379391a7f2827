// illegal: 'get' is a host function
template <class T> struct A { T t; T get() { return t; } };
__global__ void k(int* p) { A<int> a{3}; p[0] = a.get(); }
