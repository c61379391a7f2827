#include "meter/locate.hpp"

#include "process.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace meter {

namespace {

/// Returns the folder of headers that steps include, as passed to this build's compilers.
std::string common_headers() {
    std::string here = __FILE__;
    return here.erase(here.rfind("meter/"));
}

/// True if the file is neither a system header nor one of this repository's.
bool is_own(const std::string& path) {
    static const std::string common = common_headers();
    return path.find(common) == std::string::npos && path.find("common/simt/") == std::string::npos &&
           !path.starts_with("/usr/");
}

/// By code address: the line, and those of the functions that it was inlined into, outwards. If some are the
/// student's own, only these.
using Lines = std::map<std::uint32_t, std::vector<std::string>>;

/// The paths of source files, by image and name.
std::map<std::pair<std::string, std::string>, std::string> paths;

/// Adds the lines of these addresses, from addr2line.
void ask(const simt::Image& image, std::span<const std::uint32_t> codes, Lines& known) {
    std::vector<std::string> command{"addr2line", "-a", "-i", "-e", image.path};
    for (const auto code : codes) {
        char address[32];
        std::snprintf(address, sizeof address, "0x%x",
                      code - 1);  // a return address belongs to the next instruction
        command.push_back(address);
    }
    std::istringstream text(kata::run_program(command, kata::Errors::dropped).output);
    std::string path;
    std::getline(text, path);
    for (const auto code : codes) {
        auto& own = known[code];
        std::string outermost = "an unknown line";
        // The lines of each address follow the address itself.
        while (std::getline(text, path) && !path.starts_with("0x")) {
            path.resize(std::min(path.find(" ("), path.find_last_not_of(" \n") + 1));
            if (path.empty() || path.front() == '?') continue;
            const auto line = path.substr(path.rfind('/') + 1);
            paths[{image.path, line.substr(0, line.rfind(':'))}] = path.substr(0, path.rfind(':'));
            if (is_own(path))
                own.push_back(line);
            else if (own.empty())
                outermost = line;
        }
        if (own.empty()) own.push_back(outermost);
    }
}

/// Returns the known lines of the module, including those of `codes`.
const Lines& lines_known(const simt::Image& image, std::span<const std::uint32_t> codes) {
    static std::map<std::string, Lines> known;
    auto& lines = known[image.path];
    std::vector<std::uint32_t> fresh;
    std::copy_if(codes.begin(), codes.end(), std::back_inserter(fresh),
                 [&](std::uint32_t code) { return !lines.contains(code); });
    constexpr std::size_t at_once = 1000;  // well within the limit of a command line
    for (std::size_t from = 0; from < fresh.size(); from += at_once)
        ask(image, std::span(fresh).subspan(from, std::min(at_once, fresh.size() - from)), lines);
    return lines;
}

const std::vector<std::string>& lines_of(const simt::Image& image, std::uint32_t code) {
    return lines_known(image, {&code, 1}).at(code);
}

/// Opens a source file. Its path is relative to the build folder, as passed to the compiler.
std::ifstream source(const simt::Image& image, const std::filesystem::path& file) {
    const auto modules = std::filesystem::path(image.path).parent_path();
    for (const auto& path : {file, modules / file, modules.parent_path() / file})
        if (std::ifstream stream(path); stream) return stream;
    return {};
}

/// Returns the text without comments, which would be taken for code.
std::string without_comments(std::string_view text) {
    std::string code;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto two = text.substr(i, 2);
        if (two != "//" && two != "/*") {
            code += text[i];
            continue;
        }
        const std::string close = two == "//" ? "\n" : "*/";
        i = std::min(text.find(close, i + 2), text.size()) + close.size() - 1;
        code += ' ';
    }
    return code;
}

/// Returns the code of a source file, which is read once: every finding needs it.
const std::string& code_of(const simt::Image& image, const std::string& file) {
    static std::map<std::pair<std::string, std::string>, std::string> known;
    const auto [found, is_new] = known.try_emplace({image.path, file});
    if (is_new) {
        auto stream = source(image, file);
        const std::string text{std::istreambuf_iterator<char>(stream), {}};
        found->second = without_comments(text);
    }
    return found->second;
}

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Returns the last word of "const float* in" or of "float in[]", before a default value.
std::string last_word(std::string declared) {
    declared.resize(std::min(declared.find_first_of("=["), declared.size()));
    const auto end = std::find_if(declared.rbegin(), declared.rend(), is_of_word);
    const auto begin = std::find_if_not(end, declared.rend(), is_of_word);
    return {begin.base(), end.base()};
}

/// Returns the names of the parameters declared after an opening parenthesis.
std::vector<std::string> names_behind(const std::string& code, std::size_t at) {
    std::vector<std::string> names;
    std::string declared;
    int depth = 1;
    for (; at < code.size(); ++at) {
        depth += (std::string_view("([{<").find(code[at]) != std::string_view::npos) -
                 (std::string_view(")]}>").find(code[at]) != std::string_view::npos);
        if (depth > 1 || (depth == 1 && code[at] != ',')) {
            declared += code[at];
            continue;
        }
        names.push_back(last_word(std::exchange(declared, {})));
        if (depth == 0) break;
    }
    return names;
}

/// Returns the position after the opening parenthesis of the kernel's parameters; npos if it is not defined
/// here.
std::size_t parameters_in(const std::string& code, std::string kernel) {
    kernel.resize(std::min(kernel.find('<'), kernel.size()));
    kernel = last_word(kernel);
    for (auto at = code.find(kernel); at != std::string::npos && !kernel.empty();
         at = code.find(kernel, at + 1)) {
        const auto behind = code.find_first_not_of(" \n\t", at + kernel.size());
        if (behind == std::string::npos || code[behind] != '(' || (at > 0 && is_of_word(code[at - 1])))
            continue;
        const auto statement = at == 0 ? 0 : code.find_last_of(";{}", at - 1) + 1;
        if (code.substr(statement, at - statement).find("__global__") != std::string::npos) return behind + 1;
    }
    return std::string::npos;
}

}  // namespace

std::vector<std::string> parameters_of(const simt::Image& image, const std::string& file,
                                       const std::string& kernel) {
    const auto& code = code_of(image, file);
    const auto at = parameters_in(code, kernel);
    return at == std::string::npos ? std::vector<std::string>{} : names_behind(code, at);
}

namespace {

/// Returns the names of the local arrays that the kernel declares, and its body.
std::pair<std::vector<std::string>, std::string> local_arrays_of(const simt::Image& image,
                                                                 const std::string& file,
                                                                 const std::string& kernel) {
    const auto& code = code_of(image, file);
    const auto at = parameters_in(code, kernel);
    if (at == std::string::npos) return {};
    std::vector<std::string> names;
    const auto body = std::min(code.find('{', at), code.size());
    std::size_t end_of_body = body;
    static const std::regex array(R"(^\s*(?:(?:const|volatile)\s+)*([\w:]+)(?:<[^;>]*>)?\s+(\w+)\s*\[)");
    int depth = 0;
    for (auto begin = body; begin < code.size();) {
        depth += (code[begin] == '{') - (code[begin] == '}');
        if (depth == 0) break;
        const auto end = std::min(code.find_first_of(";{}", begin + 1), code.size());
        const auto statement = code.substr(begin + 1, end - begin - 1);
        std::smatch found;
        if (std::regex_search(statement, found, array) && found[1] != "else" && found[1] != "return" &&
            found[1] != "__shared__")
            names.push_back(found[2].str());
        begin = end_of_body = end;
    }
    return {names, code.substr(body, end_of_body - body)};
}

}  // namespace

std::optional<std::string> local_array_of_threads(const simt::Image& image, const std::string& file,
                                                  const std::string& kernel) {
    const auto [names, body] = local_arrays_of(image, file, kernel);
    // Only names whose every value is computed from threadIdx count: others may hold something else where
    // they are an index.
    std::map<std::string, bool> always;
    static const std::regex made(R"((\w+)\s*=(?!=)\s*([^;,=]*))"), threads(R"(\bthreadIdx\b)");
    for (std::sregex_iterator found(body.begin(), body.end(), made), end; found != end; ++found) {
        auto& so_far = always.try_emplace((*found)[1], true).first->second;
        so_far = so_far && std::regex_search((*found)[2].str(), threads);
    }
    std::string made_of_it = "threadIdx";
    for (const auto& [name, of_threads] : always)
        if (of_threads) made_of_it += '|' + name;
    for (const auto& name : names)
        if (std::regex_search(body, std::regex("\\b" + name + R"((?:\s*\[[^;\]]*\])*\s*\[[^;\]]*\b(?:)" +
                                               made_of_it + R"()\b)")))
            return name;
    return std::nullopt;
}

std::optional<std::string> indexed_array(const simt::Image& image, const std::string& file, unsigned line) {
    auto stream = source(image, file);
    std::string text, code;
    for (unsigned at = 1; at <= line && std::getline(stream, text); ++at) {
        text = text.substr(0, text.find("//"));
        code += text + ' ';
    }
    static const std::regex declared(
        R"(^\s*(?:(?:const|volatile|static|__shared__|unsigned)\s+)*([\w:]+)(?:<[^>]*>)?\s+\w+\s*\[)"),
        name(R"(\b(\w+)\s*\[)");
    std::set<std::string> arrays, indexed;
    const auto add_names = [](const std::string& in, std::set<std::string>& names) {
        for (std::sregex_iterator found(in.begin(), in.end(), name), end; found != end; ++found)
            names.insert((*found)[1]);
    };
    for (std::size_t begin = 0; begin < code.size();) {
        const auto end = std::min(code.find_first_of(";{}", begin), code.size());
        const auto statement = code.substr(begin, end - begin);
        std::smatch found;
        if (std::regex_search(statement, found, declared) && found[1] != "else" && found[1] != "return")
            add_names(statement.substr(0, statement.find('=')), arrays);
        begin = end + 1;
    }
    add_names(text, indexed);
    std::erase_if(indexed, [&](const std::string& word) { return !arrays.contains(word); });
    return indexed.size() == 1 ? std::optional(*indexed.begin()) : std::nullopt;
}

std::string line_of(const simt::Image& image, std::uint32_t code) { return lines_of(image, code).front(); }

std::vector<std::string> lines_of(const simt::Image& image, std::span<const std::uint32_t> codes) {
    const auto& known = lines_known(image, codes);
    std::vector<std::string> lines;
    for (const auto code : codes) lines.push_back(known.at(code).front());
    return lines;
}

std::string source_of(const simt::Image& image, const std::string& file) {
    const auto found = paths.find({image.path, file});
    if (found == paths.end()) return {};
    auto stream = source(image, found->second);
    return {std::istreambuf_iterator<char>(stream), {}};
}

std::string callers_of(const simt::Image& image, std::uint32_t code) {
    std::string text;
    const auto& lines = lines_of(image, code);
    for (std::size_t i = 1; i < lines.size(); ++i) text += ", called in " + lines[i];
    return text;
}

}  // namespace meter
