// What a graded step is compiled behind, and kata.hpp before it. With these attributes a function would be
// left out of all counts; macros of the back end, which have been defined by then, may use them.
#pragma once
#pragma GCC poison no_sanitize no_sanitize_thread no_sanitize_address no_sanitize_undefined
#pragma GCC poison no_sanitize_coverage __no_sanitize_coverage__ __no_sanitize__ __no_sanitize_thread__
#pragma GCC poison __no_sanitize_address__ __no_sanitize_undefined__
