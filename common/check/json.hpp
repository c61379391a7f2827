// The parts of JSON that this repository writes.
#pragma once
#include <sstream>
#include <string>
#include <string_view>

namespace kata {

/// Returns a string of JSON. Control characters other than line feeds become spaces.
inline std::string as_json(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (c == '\n')
            out += "\\n";
        else if (static_cast<unsigned char>(c) < ' ')
            out += ' ';
        else
            out += c;
    }
    return out + '"';
}

/// Returns a number of JSON that is exact to the last digit.
inline std::string number_text(double value) {
    std::ostringstream text;
    text.precision(17);
    text << value;
    return text.str();
}

/// Returns `[ONE, ONE]`, with text_of(one) for each element.
std::string list_of(const auto& range, const auto& text_of) {
    std::string out = "[";
    for (const auto& one : range) out += (out.size() > 1 ? ", " : "") + text_of(one);
    return out + "]";
}

}  // namespace kata
