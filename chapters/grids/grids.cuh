// Included by the steps of this chapter: CUDA C++ on either back end, check(), ceil_div() and the
// declarations of the functions that the steps define. Not to be changed: grading takes the repository's own.
#pragma once
#include "grids.hpp"
#include "kata.hpp"
