// The names that NVIDIA's samples have for check(): kernels copied from there include this header.
#pragma once
#include "kata.hpp"

#define checkCudaErrors(error) kata::check(error)
#define getLastCudaError(message) kata::check(cudaGetLastError())
