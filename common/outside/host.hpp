// The process of a step's host code. It has no device memory, and asks the process of the kernels, which has
// started it, for each call of CUDA.
#pragma once
#include "judge/module.hpp"
#include "outside/message.hpp"

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace kata {

/// Writes out what this process has printed.
void flush();

/// The process of host code, as the process of the kernels sees it.
class HostProcess {
  public:
    /// Starts it without the descriptors `of_kernels`, and runs the module's constructors there. Throws Error
    /// if that fails.
    HostProcess(const Module&, std::initializer_list<int> of_kernels);

    /// Ends it.
    ~HostProcess();
    HostProcess(const HostProcess&) = delete;
    HostProcess& operator=(const HostProcess&) = delete;

    pid_t id() const { return id_; }
    /// Calls a function of the module in the process of host code, and carries out the CUDA calls that it
    /// makes. Rethrows its exceptions. Throws Forged if a message is that of no CUDA call, now or before. If
    /// that process has ended, ends this one in the same way.
    void call(const std::string& name, std::intptr_t invoke, const std::vector<std::byte>& arguments);

  private:
    void serve();
    [[noreturn]] void ended();

    pid_t id_ = -1;
    std::optional<Channel> channel_;
    std::optional<Error> out_of_time_;    // of the last launch in this call, if it ran out
    std::optional<simt::Forged> forged_;  // why it has been ended
};

}  // namespace kata
