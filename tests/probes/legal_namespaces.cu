// Namespaces, and a type of another name.
namespace a { namespace { __device__ int f(int x) { return x; } } inline namespace b { using real = float; } }
__global__ void k(a::real* p) { using namespace a; p[0] = f(2) + a::f(3); }
