// What a graded step is compiled behind. With these attributes a function would be left out of all counts; the back end's own
// macros, which were defined above, may use them.
#pragma once
#include "kata.hpp"
#pragma GCC poison no_sanitize no_sanitize_thread no_sanitize_address no_sanitize_undefined no_sanitize_coverage
#pragma GCC poison __no_sanitize__ __no_sanitize_thread__ __no_sanitize_address__ __no_sanitize_undefined__
#pragma GCC poison __no_sanitize_coverage__
