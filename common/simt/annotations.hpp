// What nvcc asks of a function. To a C++ compiler most of it says nothing.
#pragma once

#if defined(__CUDA__)
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#else
#define __device__
#define __host__
#endif
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__  // the meter needs what a kernel calls in the kernel

// A function that the instrumentation does not see: on a GPU it is an instruction or two.
#if defined(__clang__)
#define SIMT_UNSEEN [[gnu::noinline]] inline
#else
#define SIMT_UNSEEN [[gnu::noinline, gnu::no_sanitize("thread"), gnu::no_sanitize_coverage]] inline
#endif
