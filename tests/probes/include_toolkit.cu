// The toolkit's headers, in quotes and in angle brackets.
#include "kata.hpp"

#include <cuda.h>
#include <cuda_runtime.h>
#include <cuda_runtime_api.h>
#include <device_launch_parameters.h>
#include <vector_types.h>
#include <driver_types.h>
#include "cuda_runtime.h"
#include "cuda_runtime_api.h"
#include "device_launch_parameters.h"
#  include   "vector_functions.h"
__global__ void k(float* out, int n) { out[threadIdx.x] = n; }
void f(float* out, int n) { k<<<1, 2>>>(out, n); }
