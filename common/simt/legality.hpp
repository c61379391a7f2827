// Tells clang's CUDA front end, which checks what nvcc would reject, which parts of the standard library nvcc
// has for the device. All others belong to the host.
#pragma once

// Precedes the host's declarations: <cstdlib> and <cstring> import into std what is already declared.
#include "simt/device_library.hpp"

// glibc declares functions of its own under these names of CUDA.
#define __cosf glibc_cosf
#define __exp10f glibc_exp10f
#define __expf glibc_expf
#define __log10f glibc_log10f
#define __log2f glibc_log2f
#define __logf glibc_logf
#define __powf glibc_powf
#define __sincosf glibc_sincosf
#define __sinf glibc_sinf
#define __tanf glibc_tanf
// The headers that <cmath> includes belong to the host; <stdlib.h> in its C form, because libstdc++ adds abs
// of <cmath>.
#include <array>
#include <limits>
#include <type_traits>
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <stdlib.h>
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS
// Its special functions, such as std::legendre, belong to the host, too.
#define _GLIBCXX_BITS_SPECFUN_H
#pragma clang force_cuda_host_device begin
#include <cmath>
#pragma clang force_cuda_host_device end
#undef _GLIBCXX_BITS_SPECFUN_H
#if __has_include(<bits/specfun.h>)
#include <bits/specfun.h>
#endif
#undef __cosf
#undef __exp10f
#undef __expf
#undef __log10f
#undef __log2f
#undef __logf
#undef __powf
#undef __sincosf
#undef __sinf
#undef __tanf

// Called by clang's code for kernel<<<…>>>(…), depending on its version.
struct dim3;
extern "C" unsigned cudaConfigureCall(dim3, dim3, __SIZE_TYPE__ = 0, void* = nullptr);
extern "C" int cudaLaunchKernel(const void*, dim3, dim3, void**, __SIZE_TYPE__, void*);
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, __SIZE_TYPE__ = 0, void* = nullptr);
