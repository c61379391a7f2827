// Host code may do what C++ can.
#include <vector>
#include <algorithm>
#include <stdexcept>
#include <iostream>
__global__ void k(int* p) { p[0] = 3; }
void h(int* p) { std::vector<int> v(3); try { k<<<1,1>>>(p); std::sort(v.begin(), v.end()); int n = std::max(1, 2); int a[n]; a[0] = n; std::cout << a[0]; if (n) throw std::runtime_error("x"); } catch (const std::exception& e) { std::cerr << e.what(); } }
