// The names that NVIDIA's samples have for timers, command lines and comparisons.
#pragma once
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#define EXIT_WAIVED 2

class StopWatchInterface {
  public:
    void start() { began_ = now(), running_ = true; }
    void stop() { sum_ += now() - began_, running_ = false, ++sessions_; }
    void reset() { sum_ = 0, sessions_ = 0, began_ = now(); }
    float getTime() const { return static_cast<float>(running_ ? sum_ + now() - began_ : sum_); }
    float getAverageTime() const { return sessions_ > 0 ? static_cast<float>(sum_ / sessions_) : 0.0f; }

  private:
    static double now() {
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
            .count();
    }
    double began_ = 0, sum_ = 0;
    int sessions_ = 0;
    bool running_ = false;
};
inline bool sdkCreateTimer(StopWatchInterface** timer) { return *timer = new StopWatchInterface, true; }
inline bool sdkDeleteTimer(StopWatchInterface** timer) { return delete *timer, *timer = nullptr, true; }
inline bool sdkStartTimer(StopWatchInterface** timer) { return (*timer)->start(), true; }
inline bool sdkStopTimer(StopWatchInterface** timer) { return (*timer)->stop(), true; }
inline bool sdkResetTimer(StopWatchInterface** timer) { return (*timer)->reset(), true; }
inline float sdkGetTimerValue(StopWatchInterface** timer) { return (*timer)->getTime(); }
inline float sdkGetAverageTimerValue(StopWatchInterface** timer) { return (*timer)->getAverageTime(); }

/// Returns what follows "-name=" or "--name=" in the command line: "" without a value; null without the name.
inline const char* kata_argument(int argc, const char** argv, const char* name) {
    for (int i = 1; i < argc; ++i) {
        const char* word = argv[i] + std::strspn(argv[i], "-");
        const auto length = std::strlen(name);
        if (word == argv[i] || std::strncmp(word, name, length) != 0) continue;
        if (word[length] == '=') return word + length + 1;
        if (word[length] == '\0') return word + length;
    }
    return nullptr;
}
inline bool checkCmdLineFlag(int argc, const char** argv, const char* name) {
    return kata_argument(argc, argv, name) != nullptr;
}
inline int getCmdLineArgumentInt(int argc, const char** argv, const char* name) {
    const char* const text = kata_argument(argc, argv, name);
    return text ? std::atoi(text) : 0;
}
inline float getCmdLineArgumentFloat(int argc, const char** argv, const char* name) {
    const char* const text = kata_argument(argc, argv, name);
    return text ? static_cast<float>(std::atof(text)) : 0.0f;
}
inline bool getCmdLineArgumentString(int argc, const char** argv, const char* name, char** found) {
    *found = const_cast<char*>(kata_argument(argc, argv, name));
    return *found != nullptr;
}

/// True if the difference is small beside the reference, as vectors.
inline bool sdkCompareL2fe(const float* reference, const float* data, unsigned size, float epsilon) {
    double error = 0, whole = 0;
    for (unsigned i = 0; i < size; ++i) {
        const double difference = double{reference[i]} - data[i];
        error += difference * difference;
        whole += double{reference[i]} * reference[i];
    }
    return whole > 0 && std::sqrt(error) < epsilon * std::sqrt(whole);
}
