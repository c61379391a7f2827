// Interposes on the runtime's launch functions. A step is a module of its own, and the dynamic linker finds
// the functions of the suite's executable first. So nvcc's code for <<<>>> calls the functions below, and
// these call the runtime's.
#include "gpu/launches.hpp"

#include "gpu/device.hpp"
#include "limits.hpp"

#include <dlfcn.h>
#include <string>

namespace kata::gpu {

namespace {

Launches heard;

Extent extent(dim3 size) { return {size.x, size.y, size.z}; }

Limits limits() {
    const auto limit = [](cudaDeviceAttr which) { return static_cast<unsigned>(attribute(which)); };
    return {limit(cudaDevAttrMaxThreadsPerBlock),
            {limit(cudaDevAttrMaxBlockDimX), limit(cudaDevAttrMaxBlockDimY), limit(cudaDevAttrMaxBlockDimZ)},
            {limit(cudaDevAttrMaxGridDimX), limit(cudaDevAttrMaxGridDimY), limit(cudaDevAttrMaxGridDimZ)},
            limit(cudaDevAttrMaxSharedMemoryPerBlock),
            limit(cudaDevAttrMaxSharedMemoryPerBlockOptin)};
}

std::string advice(const Refusal& refused) {
    // The runtime gives no kernel if the module was not compiled for this architecture.
    if (refused.kernel == nullptr) return remedy(cudaErrorNoKernelImageForDevice);
    if (const auto text = remedy(refused.error); !text.empty() && refused.error != cudaErrorInvalidValue)
        return text;
    Configuration asked{extent(refused.grid), extent(refused.block), refused.shared_bytes};
    cudaFuncAttributes function{};
    const bool known = cudaFuncGetAttributes(&function, refused.kernel) == cudaSuccess;
    if (known) {
        asked.static_shared = function.sharedSizeBytes;
        asked.asked = static_cast<std::size_t>(function.maxDynamicSharedSizeBytes);
    }
    if (const auto text = excess(asked, limits()); !text.empty()) return text;
    if (known && asked.block.volume() > static_cast<std::uint64_t>(function.maxThreadsPerBlock))
        return "with " + std::to_string(function.numRegs) + " registers a thread, this kernel has room for " +
               std::to_string(function.maxThreadsPerBlock) +
               " threads a block: take fewer, or __launch_bounds__";
    return "";
}

cudaError_t noted(cudaError_t error, const void* kernel, dim3 grid, dim3 block, std::size_t shared_bytes) {
    if (error == cudaSuccess)
        ++heard.taken;
    else if (!heard.refused)
        heard.refused = {error, kernel, grid, block, shared_bytes};
    return error;
}

/// Returns the next function of this name after the executable's: the runtime's.
template <class Function>
Function* next(Function*, const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

const Launches& launches() { return heard; }
void forget_launches() { heard = {}; }

void explain(const Refusal& refused, std::string_view where) {
    const Configuration asked{extent(refused.grid), extent(refused.block), refused.shared_bytes};
    fail(refused.error, std::string(where) + (where.empty() ? "" : ": ") + asked.refused(), advice(refused));
}

}  // namespace kata::gpu

extern "C" {

cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes, cudaStream_t stream) {
    static const auto real = kata::gpu::next(&cudaLaunchKernel, "cudaLaunchKernel");
    return kata::gpu::noted(real(kernel, grid, block, arguments, shared_bytes, stream), kernel, grid, block,
                            shared_bytes);
}

// Called by nvcc's code since CUDA 13, with a cudaKernel_t. No header declares it for a C++ compiler.
cudaError_t __cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared_bytes, cudaStream_t stream) {
    static const auto real = kata::gpu::next(&__cudaLaunchKernel, "__cudaLaunchKernel");
    return kata::gpu::noted(real(kernel, grid, block, arguments, shared_bytes, stream), kernel, grid, block,
                            shared_bytes);
}

cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        std::size_t shared_bytes, cudaStream_t stream) {
    static const auto real = kata::gpu::next(&cudaLaunchCooperativeKernel, "cudaLaunchCooperativeKernel");
    return kata::gpu::noted(real(kernel, grid, block, arguments, shared_bytes, stream), kernel, grid, block,
                            shared_bytes);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* how, const void* kernel, void** arguments) {
    static const auto real = kata::gpu::next(&cudaLaunchKernelExC, "cudaLaunchKernelExC");
    return kata::gpu::noted(real(how, kernel, arguments), kernel, how->gridDim, how->blockDim,
                            how->dynamicSmemBytes);
}

}  // extern "C"
