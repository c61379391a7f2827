#include "observe.hpp"

#include "gpu/device.hpp"
#include "gpu/launches.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace kata {

namespace {

/// A step may itself wait for its kernel, in a call that returns only when the kernel ends: then nothing can
/// be polled, nor an exception thrown, and only the process can go.
void call_watched(const std::function<void()>& work, double seconds) {
    const std::jthread watchdog([seconds](std::stop_token returned) {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any wake;
        wake.wait_for(lock, returned, std::chrono::duration<double>(seconds), [] { return false; });
        if (returned.stop_requested()) return;
        std::fflush(nullptr);
        std::fprintf(
            stderr,
            "the step has not returned after %g s: it waits for a kernel that never ends (an endless loop, "
            "or a wait for a block that never comes), or loops itself; the suite stops here\n",
            seconds);
        std::_Exit(1);
    });
    work();
}

/// Seconds for a launch. Under a tool that watches each access kernels are a hundred times as slow; whoever
/// runs the tests under one says how long they may take at least.
double patience(const Conditions& conditions) {
    const char* said = std::getenv("KATA_KERNEL_SECONDS");
    const double seconds = said ? std::atof(said) : 0;
    if (conditions.time_limit) return std::max(seconds, *conditions.time_limit);
    return seconds > 0 ? seconds : 5.0;
}

}  // namespace

Observation observe(const Conditions& conditions, const std::function<void()>& work) {
    const double limit = patience(conditions);
    require_device();
    cudaGetLastError();  // not this step's
    gpu::forget_launches();
    try {
        call_watched(work, 2 * limit);  // twice, for the driver may have to compile the kernels first
    } catch (...) {
        gpu::wait(limit);  // the next step is not to pay for what this one left running
        throw;
    }
    const cudaError_t unseen = cudaGetLastError();
    gpu::wait(limit);
    if (gpu::launches().refused) gpu::explain(*gpu::launches().refused);  // whether or not the step looked
    gpu::check(unseen, "a CUDA call of the step failed, and the step did not look");
    Observation observation;
    observation.launches = gpu::launches().taken;
    return observation;
}

const char* backend_name() { return "gpu"; }

std::string device_name() {
    require_device();
    cudaDeviceProp properties{};
    gpu::check(cudaGetDeviceProperties(&properties, 0), "the GPU does not say its name");
    return properties.name + (", " + gpu::architecture());
}

std::size_t most_shared_memory() {
    require_device();
    return static_cast<std::size_t>(gpu::attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
}

bool counts_available() { return false; }

}  // namespace kata
