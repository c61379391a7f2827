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

/// The folder of headers that steps include, as this build's compilers are given it.
std::string common_headers() {
    std::string here = __FILE__;
    return here.erase(here.rfind("meter/"));
}

/// Whether the line is the student's own, and neither the library's nor one of this repository's headers.
bool is_own(const std::string& path) {
    static const std::string common = common_headers();
    return path.find(common) == std::string::npos && path.find("common/simt/") == std::string::npos &&
           !path.starts_with("/usr/");
}

/// By code address, the line, and those of the functions that it was inlined into, outwards; only the
/// student's own, if any is.
using Lines = std::map<std::uint32_t, std::vector<std::string>>;

/// By image and name, where the files are that lines were told of.
std::map<std::pair<std::string, std::string>, std::string> paths;

/// Adds what addr2line says of the addresses.
void ask(const simt::Image& image, std::span<const std::uint32_t> codes, Lines& known) {
    std::vector<std::string> command{"addr2line", "-a", "-i", "-e", image.path};
    for (const auto code : codes) {
        char address[32];
        std::snprintf(address, sizeof address, "0x%x",
                      code - 1);  // a return address is the next instruction's
        command.push_back(address);
    }
    std::istringstream text(kata::run_program(command, kata::Errors::dropped).output);
    std::string path;
    std::getline(text, path);
    for (const auto code : codes) {
        auto& own = known[code];
        std::string outermost = "an unknown line";
        // Each answer begins with its address.
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

/// What is known of the module; the codes are, then.
const Lines& lines_known(const simt::Image& image, std::span<const std::uint32_t> codes) {
    static std::map<std::string, Lines> known;
    auto& lines = known[image.path];
    std::vector<std::uint32_t> fresh;
    std::copy_if(codes.begin(), codes.end(), std::back_inserter(fresh),
                 [&](std::uint32_t code) { return !lines.contains(code); });
    constexpr std::size_t at_once = 1000;  // a command line has room for more
    for (std::size_t from = 0; from < fresh.size(); from += at_once)
        ask(image, std::span(fresh).subspan(from, std::min(at_once, fresh.size() - from)), lines);
    return lines;
}

const std::vector<std::string>& lines_of(const simt::Image& image, std::uint32_t code) {
    return lines_known(image, {&code, 1}).at(code);
}

/// Opens a source, whose path is as the compiler was given it: as seen from the folder of the build.
std::ifstream source(const simt::Image& image, const std::filesystem::path& file) {
    const auto modules = std::filesystem::path(image.path).parent_path();
    for (const auto& path : {file, modules / file, modules.parent_path() / file})
        if (std::ifstream stream(path); stream) return stream;
    return {};
}

/// Source text without comments, which would be taken for code.
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

/// Of a source of the module, which is asked for with each finding.
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

/// The last word of "const float* in" or of "float in[]", in front of what it is by default.
std::string last_word(std::string declared) {
    declared.resize(std::min(declared.find_first_of("=["), declared.size()));
    const auto end = std::find_if(declared.rbegin(), declared.rend(), is_of_word);
    const auto begin = std::find_if_not(end, declared.rend(), is_of_word);
    return {begin.base(), end.base()};
}

/// The names of the parameters that are declared behind an opening parenthesis.
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

/// Behind the parenthesis of the kernel's parameters in the code; npos where it is not defined there.
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

/// The names of the local arrays that the kernel declares, and its body.
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

std::optional<std::string> local_array_of(const simt::Image& image, const std::string& file,
                                          const std::string& kernel) {
    const auto names = local_arrays_of(image, file, kernel).first;
    return names.empty() ? std::nullopt : std::optional(names.front());
}

std::optional<std::string> local_array_of_threads(const simt::Image& image, const std::string& file,
                                                  const std::string& kernel) {
    const auto [names, body] = local_arrays_of(image, file, kernel);
    std::string made_of_it = "threadIdx";
    static const std::regex made(R"((\w+)\s*=\s*[^;,=]*\bthreadIdx\b)");
    for (std::sregex_iterator found(body.begin(), body.end(), made), end; found != end; ++found)
        made_of_it += '|' + (*found)[1].str();
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
