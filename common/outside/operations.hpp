// The functions that host code calls in the process of the kernels: one list, from which the messages are
// made.
#pragma once
#include "outside/message.hpp"
#include "simt/elsewhere.hpp"
#include "simt/host.hpp"
#include "simt/memory.hpp"
#include "simt/order.hpp"
#include "simt/session.hpp"

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace kata {

/// Sends the question and returns the answer. Throws the exception that the answer holds, if any. Before a
/// question that `uses_memory`, gives back copies of device memory. Defined in host.cpp, like the next one.
Message ask_kernels(const Message& question, bool uses_memory);
/// Returns the launch that a message holds. Throws Forged unless the module declares its kernel.
simt::Launch received_launch(Message&);

/// Returns a copy of the text that lives until the process ends, as a literal does.
inline const char* kept(const std::string& text) {
    constexpr std::size_t most = 1 << 12, most_texts = 1 << 16;
    static std::set<std::string> texts;
    if (text.size() > most || texts.size() > most_texts) throw simt::Forged("texts without end");
    return texts.insert(text).first->c_str();
}

// The values of arguments and results. Spans and launches that are received are valid until the next message.
template <class T>
struct Sent {
    static void put(Message& message, const T& value) { message.put(value); }
    static T get(Message& message) { return message.get<T>(); }
};
template <class T>
struct Sent<T*> {
    static void put(Message& message, T* value) { message.put(reinterpret_cast<std::uintptr_t>(value)); }
    static T* get(Message& message) { return reinterpret_cast<T*>(message.get<std::uintptr_t>()); }
};
template <>
struct Sent<const char*> {
    static void put(Message& message, const char* value) { message.put(std::string(value)); }
    static const char* get(Message& message) { return kept(message.get<std::string>()); }
};
template <>
struct Sent<simt::Site> {
    static void put(Message& message, const simt::Site& site) {
        message.put(std::string(site.file), site.line);
    }
    static simt::Site get(Message& message) {
        const auto* const file = Sent<const char*>::get(message);
        return {file, message.get<int>()};
    }
};
template <>
struct Sent<std::span<const std::byte>> {
    static void put(Message& message, std::span<const std::byte> bytes) {
        message.put(std::vector(bytes.begin(), bytes.end()));
    }
    static std::span<const std::byte> get(Message& message) {
        static std::vector<std::byte> bytes;
        return bytes = message.get<std::vector<std::byte>>();
    }
};
template <>
struct Sent<std::span<const simt::Reach>> {
    static void put(Message& message, std::span<const simt::Reach> all) {
        message.put(static_cast<std::uint8_t>(all.size()));
        for (const auto& [begin, bytes, writes, rows, pitch, is_symbol] : all)
            message.put(reinterpret_cast<std::uintptr_t>(begin), bytes, writes, rows, pitch, is_symbol);
    }
    static std::span<const simt::Reach> get(Message& message) {
        static std::vector<simt::Reach> all;
        all.clear();
        for (auto more = message.get<std::uint8_t>(); more > 0; --more) {
            auto& r = all.emplace_back(simt::Reach{Sent<const void*>::get(message), 0, false});
            message.get(r.bytes, r.writes, r.rows, r.pitch, r.is_symbol);
        }
        return all;
    }
};
template <>
struct Sent<simt::CopyForHost> {
    static void put(Message& message, const simt::CopyForHost& copy) {
        message.put(copy.begin, copy.bytes, copy.writable);
    }
    static simt::CopyForHost get(Message& message) {
        simt::CopyForHost copy;
        message.get(copy.begin, copy.bytes, copy.writable);
        return copy;
    }
};
template <>
struct Sent<simt::Launch> {
    static void put(Message&, const simt::Launch&);
    static simt::Launch get(Message& message) { return received_launch(message); }
};

template <auto... functions>
struct List {
    static constexpr std::size_t size = sizeof...(functions);
    /// Returns the position of `f`, or 255 if the list lacks it.
    template <auto f>
    static constexpr std::uint8_t number_of() {
        std::uint8_t number = 0;
        return (((number += 1), std::is_same_v<std::integral_constant<decltype(f), f>,
                                               std::integral_constant<decltype(functions), functions>>) ||
                ...)
                   ? number - 1
                   : 255;
    }
};
using Operations =
    List<simt::run, simt::number_of, simt::launches_are_checked, simt::wait_for_all_streams,
         simt::wait_for_stream, simt::device_alloc, simt::device_free, simt::map_for_host, simt::pin,
         simt::unpin, simt::enqueue_copy_of, simt::check_side, simt::begin_copy_memory, simt::store,
         simt::load, simt::fill_memory, simt::symbol_address, simt::copy_for_host, simt::take_from_host,
         simt::create_stream, simt::destroy_stream, simt::create_event, simt::destroy_event, simt::record,
         simt::wait_for_event, simt::let_wait_for_event, simt::milliseconds_between, simt::allow_shared,
         simt::blocks_at_a_time, simt::multiprocessors, simt::allocated>;
/// Functions before which host code gives back its copies of device memory, because they read or change it.
using UseMemory = List<simt::run, simt::device_free, simt::unpin, simt::begin_copy_memory, simt::store,
                       simt::load, simt::fill_memory>;

template <auto f, class = decltype(f)>
struct Operation;
template <auto f, class Result, class... Arguments>
struct Operation<f, Result (*)(Arguments...)> {
    /// In the process of host code: asks for a call of `f`, and returns its result.
    static Result ask(Arguments... arguments) {
        Message question(Topic::ask);
        question.put(Operations::number_of<f>());
        (Sent<std::remove_cvref_t<Arguments>>::put(question, arguments), ...);
        auto answer = ask_kernels(question, UseMemory::number_of<f>() < UseMemory::size);
        if constexpr (!std::is_void_v<Result>) return Sent<Result>::get(answer);
    }
    /// In the process of the kernels: reads the arguments, calls `f`, and writes its result to `answer`.
    static void carry_out(Message& question, Message& answer) {
        const std::tuple<std::remove_cvref_t<Arguments>...> arguments{
            Sent<std::remove_cvref_t<Arguments>>::get(question)...};
        if (!question.at_end()) throw simt::Forged("a message that does not end");
        if constexpr (std::is_void_v<Result>)
            std::apply(f, arguments);
        else
            Sent<Result>::put(answer, std::apply(f, arguments));
    }
};

}  // namespace kata
