// Arguments are computed once, on the host, from what only the host has.
#include "kata.hpp"

#include <vector>
__global__ void k(float* out, int n) { out[threadIdx.x] = n; }

struct Problem {
    std::vector<float*> pointers;
    int n;
    void run() { k<<<pointers.size(), n>>>(pointers.back(), n); }
};
void f(float* out, int n) {
    Problem problem{{out}, n};
    problem.run();
    int i = 0;
    k<<<1, 2>>>(problem.pointers[0], ++i);
}
