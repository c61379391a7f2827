// Meson's precompiled header: the headers that every step includes by way of kata.hpp and of its problem, so
// that they are read once instead of once per step.
#include "simt/cuda.hpp"

#include <span>
#include <vector>
