#include "suite/suite.hpp"

#include "error.hpp"

namespace kata {

std::optional<std::string> fault_of(const std::function<Observation()>& work,
                                    const std::function<std::optional<std::string>()>& compare,
                                    Observation* seen) {
    Observation observed;
    try {
        observed = work();
    } catch (const Error& e) {
        return e.what();
    }
    if (seen) *seen = observed;
    if (!observed.findings.empty()) {
        std::string text;
        for (const auto& f : observed.findings) text += (text.empty() ? "" : "\n") + f;
        return text;
    }
    auto wrong = compare();
    if (wrong && observed.launches == 0) return "no kernel was launched\n" + *wrong;
    return wrong;
}

}  // namespace kata
