// What every step includes, by way of kata.hpp, for g++ to read once and not for each step: Meson's
// precompiled header.
#include "simt/cuda.hpp"
