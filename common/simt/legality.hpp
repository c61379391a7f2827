// What clang's CUDA front end has to know of the standard library where it is asked what nvcc refuses: the
// part that nvcc has for the device. All else of the library is the host's.
#pragma once

// Before the host's declarations, which <cstdlib> and <cstring> take over into std, as they stand by then.
#include "simt/device_library.hpp"

// glibc declares functions of its own under these names, which are CUDA's.
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
// What <cmath> includes is the host's, <stdlib.h> in its C form: what libstdc++ adds is <cmath>'s own abs.
#include <array>
#include <limits>
#include <type_traits>
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <stdlib.h>
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS
// Its special functions, as std::legendre, are the host's too.
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

// What clang has kernel<<<…>>>(…) call, by and by.
struct dim3;
extern "C" unsigned cudaConfigureCall(dim3, dim3, __SIZE_TYPE__ = 0, void* = nullptr);
extern "C" int cudaLaunchKernel(const void*, dim3, dim3, void**, __SIZE_TYPE__, void*);
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, __SIZE_TYPE__ = 0, void* = nullptr);
