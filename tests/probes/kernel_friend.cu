// A kernel that is a friend.
#include "kata.hpp"

class S {
    int secret = 1;
    friend __global__ void k(S* out);
};
__global__ void k(S* out) { out->secret = 2; }
void f(S* out) { k<<<1, 2>>>(out); }
