// The fibers that threads run in.
#include "error.hpp"
#include "simt/scheduler.hpp"
#include "simt/stacks.hpp"

#include <tuple>

namespace simt {

namespace context = boost::context;

namespace {

/// Fibers whose threads have left the kernel, with their stacks. They are kept for later launches, because
/// creating and destroying one takes longer than many threads run.
std::vector<std::pair<context::fiber, std::byte*>>& idle_fibers() {
    static auto& fibers = *new std::vector<std::pair<context::fiber, std::byte*>>;
    return fibers;
}

std::pair<context::fiber, std::byte*> fiber_to_run_in() {
    auto& idle = idle_fibers();
    if (!idle.empty()) {
        auto fiber = std::move(idle.back());
        idle.pop_back();
        return fiber;
    }
    auto* const stack = stack_pool().take();
    return {context::fiber(std::allocator_arg, PooledStack{stack},
                           [](context::fiber&& from) {
                               for (;;) from = Scheduler::run_thread(std::move(from));
                               return std::move(from);
                           }),
            stack};
}

}  // namespace

/// Runs the kernel for the running thread and returns to the scheduler. Returns when there is another thread
/// for this fiber.
context::fiber Scheduler::run_thread(context::fiber&& from) {
    scheduler->scheduler_ = std::move(from);
    try {
        const auto& launch = scheduler->grid_.launch;
        launch.call(launch.arguments);
    } catch (const kata::OpenKata&) {
        scheduler->fault_ = std::current_exception();
    } catch (const std::exception& e) {
        scheduler->fail(std::string("the kernel threw: ") + e.what());
    }
    running->state = State::done;
    return std::move(scheduler->scheduler_).resume();
}

void Scheduler::give_fiber(Thread& t) { std::tie(t.fiber, t.stack) = fiber_to_run_in(); }
void Scheduler::keep_fiber(Thread& t) {
    idle_fibers().emplace_back(std::move(t.fiber), std::exchange(t.stack, nullptr));
}

/// Abandons the threads of a launch that failed. Their fibers are never destroyed, which would unwind
/// instrumented code that has no landing pads; their stacks are reused. Idle fibers are abandoned, too: a
/// stack overflow may have overwritten them.
void Scheduler::abandon(Block& block) {
    static auto* const graveyard = new std::vector<context::fiber>;
    const auto bury = [](context::fiber& fiber, std::byte* stack) {
        graveyard->push_back(std::move(fiber));
        stack_pool().give(stack);
    };
    for (auto& t : block.threads)
        if (t.stack != nullptr) bury(t.fiber, std::exchange(t.stack, nullptr));
    for (auto& [fiber, stack] : idle_fibers()) bury(fiber, stack);
    idle_fibers().clear();
}

}  // namespace simt
