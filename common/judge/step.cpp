#include "judge/step.hpp"

#include <algorithm>

namespace kata {

std::vector<std::string> tags_of(std::string_view tags) {
    std::vector<std::string> all;
    for (std::size_t end; (end = tags.find(']')) != tags.npos; tags.remove_prefix(end + 1))
        all.emplace_back(tags.substr(0, end + 1));
    return all;
}

bool has_traits(const Step& step, std::string_view tags) {
    const auto all = tags_of(tags);
    return std::all_of(all.begin(), all.end(),
                       [&](const auto& tag) { return step.traits.find(tag) != tag.npos; });
}

}  // namespace kata
