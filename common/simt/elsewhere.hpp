// Host code and kernels in two processes.
#pragma once

namespace simt {

/// Calls `f` in the process of the kernels, and returns its result. Set in the process of host code; null in
/// a process that runs kernels itself. Functions that host code asks for begin by calling it, if it is set.
template <auto f>
inline constinit decltype(f) elsewhere = nullptr;

}  // namespace simt
