#include "simt/division.hpp"

#include <ucontext.h>

namespace simt {

namespace {

void (*tell)(const void* code) = nullptr;
struct sigaction before_handler {};

void handle(int signal, siginfo_t*, void* context) {
#if defined(__x86_64__)
    const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    tell(reinterpret_cast<const char*>(registers[REG_RIP]) + 1);
#else
    static_cast<void>(context);
    tell(nullptr);
#endif
    sigaction(signal, &before_handler, nullptr);
}

}  // namespace

DivisionTrap::DivisionTrap(void (*divided)(const void* code)) {
    tell = divided;
    struct sigaction action {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;  // the handler may never return
    sigaction(SIGFPE, &action, &before_);
    before_handler = before_;
}

DivisionTrap::~DivisionTrap() { sigaction(SIGFPE, &before_, nullptr); }

}  // namespace simt
