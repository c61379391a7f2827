// Included by the steps of this chapter: CUDA C++ on either back end, check(), ceil_div() and the
// declaration of count_letters(), which each step defines. Not to be changed: grading takes the repository's
// own.
#pragma once
#include "histogram.hpp"
#include "kata.hpp"

using histogram::bins, histogram::letters, histogram::letters_per_bin;
