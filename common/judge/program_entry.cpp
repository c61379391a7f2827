// Linked into a program that program.cpp loads. It exports the program's main() under another name, and
// replaces exit() by one that ends main() instead of the process, so that findings are still reported.
#include <csetjmp>

namespace {

std::jmp_buf before_main;
int status = 0;

}  // namespace

extern "C" {

int main_of_program(int, char**, char**) __asm__("main");
extern char** environ;

[[gnu::visibility("default")]] void kata_program(int argc, char** argv, int* ended_with) {
    if (setjmp(before_main) == 0) status = main_of_program(argc, argv, environ);
    *ended_with = status;
}

/// Called in place of exit(): -Wl,--wrap=exit.
[[noreturn]] void __wrap_exit(int with) {
    status = with;
    std::longjmp(before_main, 1);
}
}
