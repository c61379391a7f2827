// Included by steps 01 to 03: CUDA C++ on either back end, check(), ceil_div(), the operators Sum and Max,
// and the declaration of softmax(), which each of them defines. Not to be changed: grading takes the
// repository's own.
#pragma once
#include "attention.hpp"
#include "operators.hpp"

#include <cfloat>
#include <cmath>

using Sum = kata::Sum<float>;
using Max = kata::Max<float>;
