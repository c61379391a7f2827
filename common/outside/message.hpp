// Messages between a judge and the process of a step.
#pragma once
#include "error.hpp"
#include "observe.hpp"
#include "simt/memory.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <tuple>
#include <type_traits>
#include <unistd.h>
#include <vector>

namespace kata {

enum class Topic : std::uint8_t {
    // from the judge, or to the process of host code
    load,     ///< load the module; sent once
    call,     ///< a function of the step
    end,      ///< the observation is over
    go_on,    ///< the watcher has seen what was sent
    ask_has,  ///< the step defines a function?
    ask_array,
    ask_lines,
    ask_text,
    ask_line,
    // from the step, or from the process of host code
    ask,  ///< for the result of a function of CUDA
    loaded,
    answer,    ///< the answer to any of the questions above
    returned,  ///< the call has returned
    observed,  ///< the observation
    thrown,
    progress,
    launch_begins,
    requests,
    has_enough,
    sample_ends
};

/// A message ends too early.
struct Incomplete : Error {
    Incomplete() : Error("the process of a step has sent an incomplete message") {}
};

/// The kind of exception that a call of a step throws.
enum class Threw : std::uint8_t { open, error, bad_alloc, exception, other };

/// The contents of a message, written or read in order.
class Message {
  public:
    explicit Message(Topic topic) : bytes_(1, static_cast<char>(topic)) {}
    explicit Message(std::string bytes) : bytes_(std::move(bytes)), at_(1) {}

    Topic topic() const { return static_cast<Topic>(bytes_.at(0)); }
    const std::string& bytes() const { return bytes_; }

    template <class... Values>
    Message& put(const Values&... values) {
        (write(values), ...);
        return *this;
    }
    template <class... Values>
    void get(Values&... values) {
        (read(values), ...);
    }
    /// Writes or reads a value most of whose words are zero, without these.
    template <class T>
    void pack(const T& value) {
        std::array<std::uint64_t, sizeof(T) / 8> words;
        static_assert(std::is_trivially_copyable_v<T> && sizeof words == sizeof value);
        std::memcpy(words.data(), &value, sizeof words);
        std::array<std::uint64_t, (sizeof(T) / 8 + 63) / 64> used{};
        const auto at = bytes_.size();
        write(used);
        for (std::size_t i = 0; i < words.size(); ++i)
            if (words[i] != 0) used[i / 64] |= std::uint64_t{1} << i % 64, write(words[i]);
        std::memcpy(bytes_.data() + at, used.data(), sizeof used);
    }
    template <class T>
    void unpack(T& value) {
        std::array<std::uint64_t, sizeof(T) / 8> words{};
        const auto used = get<std::array<std::uint64_t, (sizeof(T) / 8 + 63) / 64>>();
        for (std::size_t i = 0; i < words.size(); ++i)
            if (used[i / 64] >> i % 64 & 1) read(words[i]);
        std::memcpy(static_cast<void*>(&value), words.data(), sizeof value);
    }
    bool at_end() const { return at_ == bytes_.size(); }

    template <class T>
    T get() {
        T value{};
        read(value);
        return value;
    }

  private:
    template <class T>
    void write(const T& value) {
        static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void write(const std::string& text) { write_all(text); }
    template <class T>
    void write(const std::vector<T>& values) {
        write_all(values);
    }
    void write(const std::optional<Race>& race) {
        put(race.has_value());
        if (race) write(*race);
    }
    // Bindings do not compile if a field is missing.
    void write(const Race& race) {
        const auto& [launch, array, threads] = race;
        put(launch, array, threads);
    }
    void write(const Launching& launching) {
        const auto& [grid, block, shared_bytes, text, line] = launching;
        put(grid, block, shared_bytes, text, line);
    }
    void write(const simt::Allocation& buffer) {
        // The judge sets none of those that are not sent.
        const auto& [range, name, written, serial, pages, origin, written_parts, managed, no_bytes_set_to,
                     period, copies, backed] = buffer;
        put(range, name, written, serial, pages, written_parts, period, copies, backed);
    }
    template <class Range>
    void write_all(const Range& values) {
        write(std::uint64_t{values.size()});
        if constexpr (std::is_trivially_copyable_v<typename Range::value_type>)
            bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]);
        else
            for (const auto& value : values) write(value);
    }

    template <class T>
    void read(T& value) {
        static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
        copy(&value, sizeof value);
    }
    void read(bool& value) { value = get<char>() != 0; }
    void read(std::string& text) { read_all(text); }
    template <class T>
    void read(std::vector<T>& values) {
        read_all(values);
    }
    void read(std::optional<Race>& race) {
        if (get<bool>()) read(race.emplace());
    }
    void read(Race& race) { get(race.launch, race.array, race.threads); }
    void read(Launching& l) { get(l.grid, l.block, l.shared_bytes, l.text, l.line); }
    void read(simt::Allocation& a) {
        get(a.range, a.name, a.written, a.serial, a.pages, a.written_parts, a.period, a.copies, a.backed);
    }
    template <class Range>
    void read_all(Range& values) {
        const auto size = get<std::uint64_t>();
        using Value = typename Range::value_type;
        if (size > bytes_.size() - at_) throw Incomplete();
        if constexpr (std::is_trivially_copyable_v<Value>) {
            if (size > (bytes_.size() - at_) / sizeof(Value)) throw Incomplete();
            values.resize(size);
            copy(values.data(), size * sizeof(Value));
        } else {
            values.resize(size);
            for (auto& value : values) read(value);
        }
    }
    void copy(void* to, std::size_t bytes) {
        if (bytes > bytes_.size() - at_) throw Incomplete();
        if (bytes > 0) std::memcpy(to, bytes_.data() + at_, bytes);
        at_ += bytes;
    }

    std::string bytes_;
    std::size_t at_ = 0;
};

struct NoException {};

/// Returns a message with the exception that is being handled.
inline Message thrown_now() {
    Message message(Topic::thrown);
    const auto put = [&](Threw what, const Error& e) {
        message.put(what, std::string(e.what()), e.launched, e.launches, e.findings, e.out_of_time);
    };
    try {
        throw;
    } catch (const OpenKata& e) {
        put(Threw::open, e);
    } catch (const Error& e) {
        put(Threw::error, e);
    } catch (const std::bad_alloc&) {
        put(Threw::bad_alloc, Error(""));
    } catch (const std::exception& e) {
        put(Threw::exception, Error(e.what()));
    } catch (...) {
        put(Threw::other, Error(""));
    }
    return message;
}

/// Raises the exception of such a message.
[[noreturn]] inline void raise(Message& message) {
    const auto what = message.get<Threw>();
    Error e(message.get<std::string>());
    message.get(e.launched, e.launches, e.findings, e.out_of_time);
    switch (what) {
        case Threw::open:
            throw OpenKata();
        case Threw::error:
            throw e;
        case Threw::bad_alloc:
            throw std::bad_alloc();
        case Threw::exception:
            throw std::runtime_error(e.what());
        case Threw::other:
            break;
    }
    throw NoException();
}

/// One end of the connection.
class Channel {
  public:
    explicit Channel(int descriptor) : descriptor_(descriptor) {}
    ~Channel() { close(descriptor_); }
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    /// Returns false if the other process has ended.
    bool send(const Message& message) {
        const std::uint64_t size = message.bytes().size();
        return write_whole(reinterpret_cast<const char*>(&size), sizeof size, MSG_MORE) &&
               write_whole(message.bytes().data(), size, 0);
    }
    /// Returns nothing if the other process has ended.
    std::optional<Message> receive() {
        std::uint64_t size = 0;
        constexpr std::uint64_t most = std::uint64_t{1} << 30;
        if (!read_whole(reinterpret_cast<char*>(&size), sizeof size) || size == 0 || size > most)
            return std::nullopt;
        std::string bytes(size, '\0');
        if (!read_whole(bytes.data(), size)) return std::nullopt;
        return Message(std::move(bytes));
    }

  private:
    bool write_whole(const char* from, std::size_t bytes, int how) {
        while (bytes > 0) {
            const auto n = ::send(descriptor_, from, bytes, MSG_NOSIGNAL | how);
            if (n > 0) from += n, bytes -= static_cast<std::size_t>(n);
            if (n <= 0 && errno != EINTR) return false;
        }
        return true;
    }
    bool read_whole(char* to, std::size_t bytes) {
        while (bytes > 0) {
            const auto n = read(descriptor_, to, bytes);
            if (n == 0 || (n < 0 && errno != EINTR)) return false;
            if (n > 0) to += n, bytes -= static_cast<std::size_t>(n);
        }
        return true;
    }

    int descriptor_;
};

/// Calls `pass` with the fields of conditions, other than `progress`, in order. Does not compile if one is
/// missing.
template <class C>
void fields_of(C& conditions, const auto& pass) {
    auto& [order, seed, only_block, time_limit, most_steps, metered, resident, held_back, latest, polls,
           multiprocessors, only_ends, even_of_few, one_in, has_caller, progress, sample] = conditions;
    pass(order, seed, only_block, time_limit, most_steps, metered, resident, held_back, latest, polls,
         multiprocessors, only_ends, even_of_few, one_in, has_caller, sample);
}

/// Same, with the fields of an observation other than `line_of`.
template <class O>
void fields_of_seen(O& seen, const auto& pass) {
    auto& [counts, one_in, findings, race, kept, idle, spilled, causes, next, in_part, fragments, launches,
           launched, unchecked, places, line_of] = seen;
    pass(counts, one_in, findings, race, kept, idle, spilled, causes, next, in_part, fragments, launches,
         launched, unchecked, places);
}

}  // namespace kata
