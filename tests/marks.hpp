// Lines of kernels that tests refer to, each marked by a comment at its end: `// mark: NAME`.
#pragma once
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

/// Returns "FILE.cu:12" if line 12 of a file in `folder` ends with the comment `mark: …`.
inline std::string marked_line(const std::filesystem::path& folder, const std::string& mark) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() != ".cu") continue;
        std::ifstream file(entry.path());
        std::string text;
        for (int line = 1; std::getline(file, text); ++line)
            if (text.ends_with("mark: " + mark))
                return entry.path().filename().string() + ':' + std::to_string(line);
    }
    throw std::logic_error("no line is marked " + mark);
}
