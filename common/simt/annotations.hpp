// Function attributes of CUDA. Most have no meaning for a C++ compiler.
#pragma once

#if defined(__CUDA__)
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#else
#define __device__
#define __host__
#endif
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__  // the meter needs calls inlined into the kernel

// A function without instrumentation: on a GPU it is an instruction or two.
#if defined(__clang__) && defined(__SANITIZE_THREAD__)
#define SIMT_UNSEEN \
    [[gnu::noinline, clang::disable_sanitizer_instrumentation, clang::no_sanitize("coverage")]] inline
#elif defined(__clang__)
#define SIMT_UNSEEN [[gnu::noinline]] inline
#else
#define SIMT_UNSEEN [[gnu::noinline, gnu::no_sanitize("thread"), gnu::no_sanitize_coverage]] inline
#endif
