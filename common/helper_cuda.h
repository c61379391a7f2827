// The names that NVIDIA's samples have for checks and for the device: kernels copied from there include this
// header.
#pragma once
#if defined(__NVCC__)
#include "gpu/cuda.hpp"
#else
#include "simt/cuda.hpp"
#endif
#include "helper_functions.h"

namespace kata {

inline void check_sample(cudaError_t error, const char* file, int line) {
    if (error != cudaSuccess) backend::fail(error, file, line);
}

}  // namespace kata

#define checkCudaErrors(error) kata::check_sample(error, __FILE__, __LINE__)
#define getLastCudaError(message) kata::check_sample(cudaGetLastError(), __FILE__, __LINE__)

inline int _ConvertSMVer2Cores(int major, int minor) {
    return major * 10 + minor == 80 || major == 7 ? 64 : 128;
}
inline const char* _ConvertSMVer2ArchName(int major, int) { return major == 9 ? "Hopper" : "other"; }
inline int gpuGetMaxGflopsDeviceId() { return 0; }
inline int gpuDeviceInit(int device) { return device; }
inline int findCudaDevice(int, const char**) {
    cudaDeviceProp p;
    checkCudaErrors(cudaGetDeviceProperties(&p, 0));
    std::printf("GPU Device 0: \"%s\" with compute capability %d.%d\n\n", p.name, p.major, p.minor);
    return 0;
}
inline bool checkCudaCapabilities(int major, int minor) {
    cudaDeviceProp p;
    checkCudaErrors(cudaGetDeviceProperties(&p, 0));
    return p.major > major || (p.major == major && p.minor >= minor);
}
