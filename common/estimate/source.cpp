#include "estimate/source.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <regex>
#include <set>
#include <string_view>

namespace estimate {

namespace {

using std::size_t;
constexpr auto npos = std::string::npos;

constexpr unsigned rounds_by_default = 4;  // rounds that nvcc unrolls of a loop with an unknown trip count

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Returns the source with comments and the contents of strings replaced by blanks: positions do not change.
std::string code_of(std::string text) {
    const auto blank = [&text](size_t from, size_t to) {
        for (auto i = from; i < std::min(to, text.size()); ++i)
            if (text[i] != '\n') text[i] = ' ';
    };
    for (size_t i = 0; i < text.size(); ++i) {
        const auto two = std::string_view(text).substr(i, 2);
        auto end = i;
        if (two == "//")
            blank(i, end = std::min(text.find('\n', i), text.size()));
        else if (two == "/*")
            blank(i, end = std::min(text.find("*/", i + 2), text.size() - 2) + 2);
        else if (text[i] == '"' || (text[i] == '\'' && (i == 0 || !is_of_word(text[i - 1])))) {
            for (end = i + 1; end < text.size() && text[end] != text[i] && text[end] != '\n'; ++end)
                end += text[end] == '\\';
            blank(i + 1, end);
        } else
            continue;
        i = end;
    }
    return text;
}

/// Returns the position after the parenthesis or brace that closes the one at `at`.
size_t behind_closing(const std::string& code, size_t at) {
    int depth = 0;
    for (; at < code.size(); ++at) {
        depth += std::string_view("([{").find(code[at]) != npos;
        depth -= std::string_view(")]}").find(code[at]) != npos;
        if (depth == 0) return at + 1;
    }
    return at;
}

/// Splits at separators outside parentheses.
std::vector<std::string> parts_of(std::string_view text, char separator) {
    std::vector<std::string> parts(1);
    int depth = 0;
    for (const char c : text) {
        depth += std::string_view("([{").find(c) != npos;
        depth -= std::string_view(")]}").find(c) != npos;
        if (c == separator && depth == 0)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

std::vector<std::string> words_in(const std::string& text) {
    static const std::regex word(R"([A-Za-z_]\w*)");
    return {std::sregex_token_iterator(text.begin(), text.end(), word), {}};
}

/// Names of values known at compile time.
std::set<std::string> constants_in(const std::string& code) {
    std::set<std::string> names{"sizeof", "static_cast", "int",   "unsigned", "std",
                                "size_t", "long",        "const", "auto"};
    static const std::regex declared(R"(\b(?:constexpr|template\s*<)([^;{]*))"),
        macro(R"(#\s*define\s+(\w+)\s+[\w(])"), name(R"((\w+)\s*(?:=(?!=)|,|>|$))");
    for (std::sregex_iterator i(code.begin(), code.end(), declared), end; i != end; ++i) {
        const bool is_template = (*i)[0].str().starts_with("template");
        auto text = (*i)[1].str();
        if (is_template) text.resize(std::min(text.find('>'), text.size()));
        for (const auto& part : parts_of(text, ',')) {
            const auto words = words_in(part.substr(0, part.find('=')));
            if (!words.empty() && (is_template || part.find('=') != npos)) names.insert(words.back());
        }
    }
    for (std::sregex_iterator i(code.begin(), code.end(), macro), end; i != end; ++i) names.insert((*i)[1]);
    return names;
}

class Reader {
  public:
    explicit Reader(const std::string& source)
        : code_(code_of(source)),
          constants_(constants_in(code_)),
          lines_(static_cast<size_t>(std::count(code_.begin(), code_.end(), '\n')) + 1) {}

    std::vector<Line> read() {
        static const std::regex loop(R"(\b(?:(for|while|atomic\w+)\s*\(|do\s*\{))");
        for (std::sregex_iterator i(code_.begin(), code_.end(), loop), end; i != end; ++i) {
            const auto at = static_cast<size_t>(i->position());
            const auto open = at + static_cast<size_t>(i->length()) - 1;
            if (!(*i)[1].matched)
                read_loop(at, open, open);
            else if ((*i)[1] == "for" || (*i)[1] == "while")
                read_loop(at, open, behind_closing(code_, open));
            else
                read_atomic(at, open);
        }
        find_divisions();
        return std::move(lines_);
    }

  private:
    size_t line_of(size_t at) const {
        return static_cast<size_t>(
            std::count(code_.begin(), code_.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    }

    size_t next(size_t at) const { return std::min(code_.find_first_not_of(" \t\n", at), code_.size()); }

    std::string word_at(size_t at) const {
        auto end = at;
        while (end < code_.size() && is_of_word(code_[end])) ++end;
        return code_.substr(at, end - at);
    }

    /// Returns the position after the statement that begins there.
    size_t behind_statement(size_t at) const {
        at = next(at);
        if (at == code_.size()) return at;
        if (code_[at] == '#') return behind_statement(std::min(code_.find('\n', at), code_.size()));
        if (code_[at] == '{') return behind_closing(code_, at);
        const auto word = word_at(at);
        if (word == "for" || word == "while" || word == "if" || word == "switch") {
            const auto end =
                behind_statement(behind_closing(code_, std::min(code_.find('(', at), code_.size())));
            const auto behind = next(end);
            return word == "if" && word_at(behind) == "else" ? behind_statement(behind + 4) : end;
        }
        while (at < code_.size() && code_[at] != ';')
            at = std::string_view("([{").find(code_[at]) != npos ? behind_closing(code_, at) : at + 1;
        return std::min(at + 1, code_.size());
    }

    bool is_known(const std::string& expression, const std::string& variable) const {
        const auto words = words_in(expression);
        return std::all_of(words.begin(), words.end(),
                           [&](const auto& word) { return word == variable || constants_.contains(word); });
    }

    /// True if everything in "int i = 0; i < n; ++i", such as n, is a constant.
    bool has_known_rounds(const std::string& header) const {
        const auto parts = parts_of(header, ';');
        if (parts.size() == 1) return parts[0].find(':') != npos;  // over an array
        if (parts.size() != 3 || parts[0].find_first_of("={") == npos) return false;
        const auto variable = variable_of(header);
        return !variable.empty() && std::all_of(parts.begin(), parts.end(),
                                                [&](const auto& part) { return is_known(part, variable); });
    }

    /// Returns the variable declared by a loop: "i" for "int i = 0; i < n; ++i"; nothing if there is none.
    static std::string variable_of(const std::string& header) {
        const auto names = words_in(header.substr(0, header.find_first_of("=:;{")));
        return names.size() < 2 ? std::string() : names.back();
    }

    /// Returns the operand that begins there: a name with its calls, members and indices, or a parenthesized
    /// expression.
    std::string operand_at(size_t at) const {
        const auto begin = at = next(at);
        while (at < code_.size() && (is_of_word(code_[at]) || code_[at] == '.' || code_[at] == ':')) ++at;
        if (at < code_.size() && (code_[at] == '(' || code_[at] == '[')) at = behind_closing(code_, at);
        return code_.substr(begin, at - begin);
    }

    void find_divisions() {
        size_t line = 0;
        for (size_t i = 0; i < code_.size(); ++i) {
            line += code_[i] == '\n';
            if (code_[i] != '/' && code_[i] != '%') continue;
            const auto words = words_in(operand_at(i + 1 + (i + 1 < code_.size() && code_[i + 1] == '=')));
            lines_[line].divisions += !std::all_of(words.begin(), words.end(), [&](const auto& word) {
                return constants_.contains(word) ||
                       std::any_of(variables_.begin(), variables_.end(), [&](const Variable& v) {
                           return v.first <= line && line <= v.last && v.name == word;
                       });
            });
        }
    }

    /// True if each condition there controls one plain statement, or part of an expression, and there is no
    /// barrier.
    bool has_only_short_branches(size_t from, size_t to) const {
        static const std::regex branch(R"(\bif\b\s*(constexpr\b\s*)?|\bswitch\b)"),
            long_one(R"(\b(?:if|switch|for|while|do|else)\b|\batomic|;\s*[^\s}])");
        static const std::regex barrier(R"(\b__sync(?:threads|warp)|\bsync\s*\()");
        const auto text = code_.substr(from, to - from);
        if (std::regex_search(text, barrier)) return false;
        for (std::sregex_iterator i(text.begin(), text.end(), branch), end; i != end; ++i) {
            if ((*i)[1].matched) continue;
            if (i->str() == "switch") return false;
            const auto open = from + static_cast<size_t>(i->position() + i->length());
            const auto decides = behind_closing(code_, open), behind = behind_statement(decides);
            if (word_at(next(behind)) == "else" ||
                std::regex_search(code_.substr(decides, behind - decides), long_one))
                return false;
        }
        return true;
    }

    /// Reads a loop from its keyword, with the opening parenthesis and the body.
    void read_loop(size_t at, size_t open, size_t body) {
        Line said;
        const auto header = code_.substr(open + 1, code_[at] == 'f' ? body - open - 2 : 0);
        const bool is_known_for = has_known_rounds(header);
        said.unrolled = is_known_for;
        said.rounds = said.unrolled ? 0 : rounds_by_default;
        static const std::regex pragma(R"(#\s*pragma\s+(?:GCC\s+)?unroll\b[ \t(]*(\w*)[ \t)]*$)");
        const auto before = at == 0 ? npos : code_.find_last_not_of(" \t\n", at - 1);
        if (before != npos) {
            const auto from = code_.rfind('\n', before) + 1;
            const auto line = code_.substr(from, before + 1 - from);
            std::smatch found;
            if (std::regex_search(line, found, pragma)) {
                const auto number = found[1].str();
                const bool is_number = !number.empty() && std::isdigit(static_cast<unsigned char>(number[0]));
                if (!is_number)
                    said.rounds = 0, said.unrolled = true;
                else if (!said.unrolled || number == "1")
                    said.rounds = static_cast<unsigned>(std::stoul(number)), said.unrolled = false;
            }
        }
        const auto end = behind_statement(body);
        static const std::regex condition(R"(\bif\b(?!\s*constexpr)|\bswitch\b|\?|&&|\|\|)");
        if (said.rounds != 1 && std::regex_search(code_.substr(body, end - body), condition)) {
            said.predicated = has_only_short_branches(body, end);
            // A jump remains in each round, and nvcc moves few loads across it.
            if (said.unrolled && !said.predicated) said.rounds = rounds_by_default, said.unrolled = false;
        }
        const auto last = line_of(end - 1);
        // In an unrolled round the loop variable is a constant.
        if (is_known_for) variables_.push_back({line_of(at), last, variable_of(header)});
        for (auto line = line_of(at); line <= last; ++line) {
            const bool adds = lines_[line].adds_a_number;
            lines_[line] = said;
            lines_[line].adds_a_number = adds;
        }
    }

    void read_atomic(size_t at, size_t open) {
        const auto end = behind_closing(code_, open);
        static const std::regex number(R"(\s*\d[\w.']*\s*)");
        const auto arguments = parts_of(std::string_view(code_).substr(open + 1, end - open - 2), ',');
        const bool adds = std::regex_match(arguments.back(), number);
        for (auto line = line_of(at); line <= line_of(end - 1); ++line) lines_[line].adds_a_number = adds;
    }

    std::string code_;
    std::set<std::string> constants_;
    std::vector<Line> lines_;
    struct Variable {
        size_t first, last;  // lines
        std::string name;
    };
    std::vector<Variable> variables_;  // variables of unrolled loops, which are constants in each round
};

}  // namespace

std::vector<Line> lines_in(const std::string& source) { return Reader(source).read(); }

}  // namespace estimate
