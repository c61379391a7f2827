// refused: not declared | undeclared
#include "kata.hpp"

void f(float* out, int n) { k<<<1, 2>>>(out); }
