// Enumerations in a kernel.
enum Color { red, green }; enum class E : unsigned char { a, b }; 
__global__ void k(E e, Color c, float* p) { using enum E; if (e == a && c == red) p[0] = static_cast<int>(e); }
