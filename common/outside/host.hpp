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

/// The connection to it.
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
    /// Calls a function of the module there, and carries out what its host code asks for. Throws what it
    /// throws. Ends this process if that one has ended, in the same way.
    void call(const std::string& name, std::intptr_t invoke, const std::vector<std::byte>& arguments);

  private:
    void serve();
    [[noreturn]] void ended();

    pid_t id_ = -1;
    std::optional<Channel> channel_;
    std::optional<Error> out_of_time_;    // the last such error of a launch
    std::optional<simt::Forged> forged_;  // why it has been ended
};

}  // namespace kata
