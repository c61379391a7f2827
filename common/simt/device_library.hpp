// The functions of the C library that CUDA has for the device, declared for clang's CUDA front end. Declared
// again after the precompiled header: for a name that host and device share, clang 14 finds only one of the
// functions in there.
extern "C" {
__attribute__((device)) int abs(int) noexcept;
__attribute__((device)) long labs(long) noexcept;
__attribute__((device)) long long llabs(long long) noexcept;
__attribute__((device)) void* malloc(__SIZE_TYPE__) noexcept;
__attribute__((device)) void free(void*) noexcept;
__attribute__((device)) void* memcpy(void*, const void*, __SIZE_TYPE__) noexcept;
__attribute__((device)) void* memset(void*, int, __SIZE_TYPE__) noexcept;
__attribute__((device)) int printf(const char*, ...);
__attribute__((device)) long clock() noexcept;
__attribute__((device)) void __assert_fail(const char*, const char*, unsigned, const char*) noexcept;
}
