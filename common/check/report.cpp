#include "check/report.hpp"

#include "check/json.hpp"

#include <algorithm>

namespace kata {

Remarks& remarks() {
    static Remarks of_running_test;
    return of_running_test;
}

std::string kind_of_failure(const std::string& text, std::size_t failures, const Remarks& remarks) {
    if (text.starts_with("open: ")) return "open";
    return remarks.shares.size() == failures ? "slow" : "wrong";
}

std::string Record::json() const {
    const auto as_is = [](const std::string& text) { return as_json(text); };
    std::string out = "{\"test\": " + as_json(test) + ", \"kind\": " + as_json(kind);
    if (!text.empty()) out += ", \"text\": " + as_json(text);
    if (kind == "slow")
        out += ", \"share\": " + number_text(*std::min_element(remarks.shares.begin(), remarks.shares.end()));
    if (!remarks.gains.empty()) out += ", \"gains\": " + list_of(remarks.gains, as_is);
    if (!remarks.notes.empty()) out += ", \"notes\": " + list_of(remarks.notes, as_is);
    if (!remarks.figures.empty())
        out += ", \"counts\": " + list_of(remarks.figures, [](const Remarks::Figure& figure) {
                   return "{\"key\": " + as_json(figure.key) + ", \"heading\": " + as_json(figure.heading) +
                          ", \"step\": " + number_text(figure.mine) +
                          ", \"solution\": " + number_text(figure.theirs) + "}";
               });
    if (!remarks.nearest.empty()) out += ", \"nearest\": " + list_of(remarks.nearest, as_is);
    return out + "}";
}

}  // namespace kata
