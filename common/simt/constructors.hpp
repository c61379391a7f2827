// The constructors of a module: code of the step that runs when it is loaded.
#pragma once
#include "simt/runtime.hpp"

namespace simt {

/// Delays constructors: those of modules loaded from now on wait for run_constructors(). The process of the
/// kernels delays them, and only the process of host code, its fork, runs them.
void delay_constructors();
void run_constructors();
/// Returns what the last module loaded after delay_constructors() declared, recorded before its code ran.
const Declarations& declarations();

}  // namespace simt
