// Host code and kernels in two processes.
#pragma once

namespace simt {

/// In the process of host code: the function that has the process of the kernels call `f`, which returns what
/// that returns. Null in a process that runs kernels itself.
template <auto f>
inline constinit decltype(f) elsewhere = nullptr;

}  // namespace simt
