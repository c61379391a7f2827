#include "gpu/device.hpp"

#include "error.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace kata {

namespace {

std::string lost_to;  // why the device is lost; empty while it is usable

std::string version(int number) {
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

std::string why_no_device(cudaError_t error) {
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (error == cudaErrorNoDevice) return "the driver finds none";
    if (error == cudaErrorInsufficientDriver && driver == 0) return "no NVIDIA driver is installed";
    if (error == cudaErrorInsufficientDriver)
        return "the driver is too old: it knows CUDA up to " + version(driver) + ", this program needs " +
               version(runtime);
    if (error == cudaErrorDevicesUnavailable) return "another program has exclusive use of it";
    return cudaGetErrorString(error);
}

/// Returns why the device has stopped a kernel.
std::string misdeed(cudaError_t error) {
    switch (error) {
        case cudaErrorIllegalAddress:
            return "out of bounds: a thread read or wrote outside the memory it was given";
        case cudaErrorMisalignedAddress:
            return "misaligned: a thread accessed an address that is not a multiple of the access's width, "
                   "for "
                   "a float4 16 bytes";
        case cudaErrorAssert:
            return "an assert in a kernel failed; its file and line are printed above";
        case cudaErrorIllegalInstruction:
            return "a thread executed __trap() or an illegal instruction";
        case cudaErrorInvalidAddressSpace:
            return "a thread used an address in the wrong kind of memory";
        case cudaErrorInvalidPc:
            return "a thread jumped to an address without code";
        case cudaErrorHardwareStackError:
            return "a thread's call stack overflowed or was overwritten";
        case cudaErrorLaunchTimeout:
            return "a kernel ran longer than the display allows";
        case cudaErrorLaunchFailure:
            return "a thread executed __trap(), or accessed shared or local memory out of bounds";
        default:
            return cudaGetErrorString(error);
    }
}

/// Makes the process end without waiting for its kernels, one of which never ends.
void leave_without_waiting() {
    on_exit(
        [](int status, void*) {
            std::fflush(nullptr);
            std::_Exit(status);
        },
        nullptr);
}

}  // namespace

void require_device() {
    if (gpu::lost())
        throw Error("not run, because an earlier kernel took the GPU from this process (" + lost_to +
                    "): fix that one first, or run this test alone");
    static bool usable = false;
    if (usable) return;
    int devices = 0;
    cudaError_t error = cudaGetDeviceCount(&devices);
    if (error == cudaSuccess) error = cudaFree(nullptr);  // the first call that needs a context
    usable = error == cudaSuccess;
    if (!usable)
        throw Error("no GPU to run on: " + why_no_device(error) +
                    "; see what nvidia-smi says, or build with -Dgpu=disabled for the CPU back end");
}

namespace gpu {

void fail(cudaError_t error, std::string_view failed, std::string_view advice) {
    const cudaError_t state = cudaStreamQuery(nullptr);
    cudaGetLastError();  // both errors are reported here and must not be found again
    if (state == cudaSuccess || state == cudaErrorNotReady) {
        std::string line = std::string(failed) + ": " + cudaGetErrorString(error);
        if (!advice.empty()) line.append("; ").append(advice);
        throw Error(line);
    }
    lost_to = misdeed(state);
    throw Error("a kernel was stopped: " + lost_to + " (" + cudaGetErrorName(state) +
                "); compute-sanitizer names the line, and so does the CPU back end");
}

void wait(double seconds) {
    using Clock = std::chrono::steady_clock;
    using namespace std::chrono_literals;
    static const cudaEvent_t end = [] {
        cudaEvent_t event{};
        check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "no event could be created");
        return event;
    }();
    check(cudaEventRecord(end), "the end of the step could not be marked");
    const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
    std::chrono::microseconds pause = 10us;
    cudaError_t state = cudaSuccess;
    while ((state = cudaEventQuery(end)) == cudaErrorNotReady) {
        cudaGetLastError();  // the runtime records "not ready" as an error
        if (Clock::now() > deadline) {
            char line[128];
            std::snprintf(
                line, sizeof line,
                "kernel still runs after %g s: an endless loop, or a wait for a block that never comes",
                seconds);
            lost_to = line;
            leave_without_waiting();
            throw Error(line);
        }
        std::this_thread::sleep_for(pause);
        pause = std::min(2 * pause, 1000us);
    }
    check(state, "the step did not end normally");
    // Flushes printf of kernels, and waits for other streams.
    check(cudaDeviceSynchronize(), "the step did not end normally");
}

bool lost() { return !lost_to.empty(); }

int attribute(cudaDeviceAttr which) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, 0), "the GPU does not report its properties");
    return value;
}

std::string architecture() {
    return "sm_" + std::to_string(attribute(cudaDevAttrComputeCapabilityMajor)) +
           std::to_string(attribute(cudaDevAttrComputeCapabilityMinor));
}

std::string remedy(cudaError_t error) {
    switch (error) {
        case cudaErrorMemoryAllocation:
            return "allocate less, and free with cudaFree what is no longer needed";
        case cudaErrorInvalidValue:
            return "an argument is out of its range: a null pointer, a size, an offset";
        case cudaErrorInvalidMemcpyDirection:
            return "the direction must be one of cudaMemcpyKind";
        case cudaErrorInvalidDevicePointer:
            return "that is not a pointer to device memory";
        case cudaErrorInvalidSymbol:
            return "give the __constant__ or __device__ variable itself, not its name or its address";
        case cudaErrorNoKernelImageForDevice:
        case cudaErrorInvalidDeviceFunction:
        case cudaErrorUnsupportedPtxVersion:
            return "the step was built for another GPU: configure with -Dgpu_arch=" + architecture();
        default:
            return "";
    }
}

}  // namespace gpu

}  // namespace kata
