// refused: no_such_header.cuh
#include "kata.hpp"

#include "own/no_such_header.cuh"
void f() {}
