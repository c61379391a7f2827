// The constructors of a module: code of the step that runs when it is loaded.
#pragma once
#include "simt/runtime.hpp"

namespace simt {

/// From now on, keeps modules that are loaded from running theirs, up to a call of run_constructors().
void delay_constructors();
void run_constructors();
/// Returns what the module loaded since then has declared before any of its code ran.
const Declarations& declarations();

}  // namespace simt
