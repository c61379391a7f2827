// refused: own/initial.cuh:2: error: shared memory takes no initial value
#include "kata.hpp"

#include "own/initial.cuh"
void f() {}
