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

/// Ends the process if `work` does not return: a step may wait for an endless kernel in a call of the
/// runtime, where neither polling nor an exception can help.
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

/// Returns the seconds that a launch may take. KATA_KERNEL_SECONDS raises them for tools that check each
/// access, under which kernels are a hundred times as slow.
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
    cudaGetLastError();  // forgets the error of an earlier step
    gpu::forget_launches();
    try {
        call_watched(work, 2 * limit);  // twice, because the driver may have to compile the kernels
    } catch (...) {
        gpu::wait(limit);  // so that the next step does not pay for kernels still running
        throw;
    }
    const cudaError_t unseen = cudaGetLastError();
    gpu::wait(limit);
    if (gpu::launches().refused) gpu::explain(*gpu::launches().refused);  // even if the step has not checked
    gpu::check(unseen, "a CUDA call of the step failed, and the step did not check it");
    Observation observation;
    observation.launches = gpu::launches().taken;
    return observation;
}

const char* backend_name() { return "gpu"; }

std::string device_name() {
    require_device();
    cudaDeviceProp properties{};
    gpu::check(cudaGetDeviceProperties(&properties, 0), "the GPU does not report its name");
    return properties.name + (", " + gpu::architecture());
}

std::size_t most_shared_memory() {
    require_device();
    return static_cast<std::size_t>(gpu::attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
}

bool counts_available() { return false; }

}  // namespace kata
