// Volatile accesses and atomics, by which blocks signal to each other. Detects polls, and lets other blocks
// run where that may show a lost update.
#include "meter/meter.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace meter {

void Meter::atomic(const void* address, unsigned bytes, const void* code, simt::AtomicFor whom,
                   bool replaces) {
    settle_overwrite();
    replaces_ = replaces;
    let_others_in(address);
    forget_look(address);
    touch(address, bytes, whom == simt::AtomicFor::device ? Verb::update : Verb::update_in_block, code);
}

void Meter::atomic_load(const void* address, unsigned bytes, const void* code, simt::AtomicFor whom) {
    settle_overwrite();
    before_signal(address, bytes, Verb::atomic_read, code);
    touch(address, bytes, whom == simt::AtomicFor::device ? Verb::atomic_read : Verb::atomic_read_in_block,
          code);
}

void Meter::atomic_store(const void* address, unsigned bytes, const void* code, simt::AtomicFor whom) {
    settle_overwrite();
    before_signal(address, bytes, Verb::atomic_write, code);
    touch(address, bytes, whom == simt::AtomicFor::device ? Verb::atomic_write : Verb::atomic_write_in_block,
          code);
}

bool Meter::polls_again(std::uintptr_t address, Verb verb, std::uint32_t code) {
    auto& polls = resident().polls;
    if (polls.empty()) polls.resize(simt::running_block->threads.size());
    polled_ = true;
    auto& poll = polls[simt::running->linear];
    const bool again = poll.last && poll.address == address && poll.code == code;
    poll = {address, code, verb == Verb::volatile_read};
    return again;
}

void Meter::ask(const void* address, std::size_t bytes) {
    asked_ = {simt::running, address, bytes, 0, 0};
    std::memcpy(&asked_.held, address, bytes);
}

void Meter::hear_answer() {
    const auto asked = std::exchange(asked_, {});
    std::uint64_t holds = 0;
    std::memcpy(&holds, asked.address, asked.bytes);
    if (asked.thread != simt::running || holds != asked.held) {
        ++news_;
        return;
    }
    resident().polls[simt::running->linear].last = true;
    if (const auto address = reinterpret_cast<std::uintptr_t>(asked.address); asked.unwritten != 0)
        tell_unwritten(*region_of(address), address, asked.bytes, asked.unwritten);
    auto* event = turn_.last();
    if (event && event->address == reinterpret_cast<std::uintptr_t>(asked.address)) event->only_reads = true;
}

/// Another block may write a volatile or an atomic between a thread's read and its write. If blocks run
/// alternately, yields to give it the chance.
void Meter::before_signal(const void* pointer, std::size_t bytes, Verb verb, const void* code) {
    constexpr unsigned enough = 1000;
    if (!mixed_) return;
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    if (simt::stacks.contains(address)) return;
    auto& seen = resident().looks[simt::running->linear];
    auto place = std::find_if(seen.begin(), seen.end(), [&](const Look& l) { return l.address == address; });
    if (reads(verb)) {
        if (place == seen.end()) {
            std::rotate(seen.begin(), seen.end() - 1, seen.end());
            place = seen.begin();
        }
        *place = {address, value_at(pointer, bytes)};
        return;
    }
    if (place == seen.end()) return;
    const auto* region = region_of(address);
    const auto look = std::exchange(*place, {});
    if (!region || region->space != Space::global || bytes > region->range.end - address) return;
    if (gave_way_++ < enough) simt::yield();
    const auto now = value_at(pointer, bytes);
    if (now == look.value || findings_.full()) return;
    const auto at = line(offset_of(code));
    if (findings_.reported.contains({at, "lost"})) return;
    overwrite_ = {
        pointer, bytes, now,
        "lost update of global memory " + text_of(*region_of(address), address, bytes) + ": " + here() +
            " writes in " + at +
            " a value computed from an older one: another thread has written it since\n  " +
            (is_atomic(verb)
                 ? "other threads can write between an atomic load and an atomic store: use one atomic "
                   "update, such as fetch_add"
                 : "volatile does not stop other threads between a read and a write: use an atomic")};
    findings_.reported.insert({at, "lost"});
}

/// The thread's own update has seen the current value.
void Meter::forget_look(const void* pointer) {
    if (!mixed_) return;
    for (auto& look : resident().looks[simt::running->linear])
        if (look.address == reinterpret_cast<std::uintptr_t>(pointer)) look = {};
}

/// If blocks run alternately, yields between a read of the thread and its atomic: a compare-and-swap that is
/// not repeated may then lose its value.
void Meter::let_others_in(const void* pointer) {
    constexpr unsigned enough = 256;
    if (!mixed_ || let_in_ >= enough) return;
    const auto* region = region_of(reinterpret_cast<std::uintptr_t>(pointer));
    if (!region || region->space != Space::global) return;
    ++let_in_;
    simt::yield();
}

/// If both have written the same value, perhaps nothing is lost: launch_ends() checks whether the word has
/// changed again.
void Meter::tell_overwrite() {
    auto lost = std::exchange(overwrite_, {});
    if (value_at(lost.address, lost.bytes) != lost.value)
        findings_.add(lost.text);
    else
        repeated_.push_back(std::move(lost));
}

}  // namespace meter
