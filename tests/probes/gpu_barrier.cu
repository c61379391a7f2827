// needs a GPU: the CPU back end has no cuda::barrier and cuda::pipeline
#include "kata.hpp"

#include <cuda/barrier>
void f() {}
