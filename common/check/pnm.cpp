#include "check/pnm.hpp"

#include "error.hpp"

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <system_error>

namespace kata {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& what) {
    throw Error(path.string() + ": " + what);
}

std::string system_reason() { return std::generic_category().message(errno); }

// The classic locale's white space: what the format calls white space, whatever locale the program runs in.
bool is_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

void skip_comment(std::istream& file) {
    for (int c = file.get(); c != '\n' && c != '\r' && file;) c = file.get();
}

/// The next number of the header. What ends it is left unread.
int number(std::istream& file, const fs::path& path, const std::string& name, int largest) {
    while (is_space(file.peek()) || file.peek() == '#')
        if (file.get() == '#') skip_comment(file);
    std::string word;
    // A damaged header may run into megabytes of pixels without a space: no number needs that many
    // characters.
    while (file && !is_space(file.peek()) && file.peek() != '#' && word.size() < 12) {
        if (file.peek() == std::istream::traits_type::eof()) break;
        word += static_cast<char>(file.get());
    }
    int value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty()) fail(path, "the header ends before the " + name + "; save the picture again");
    const bool digits = word.find_first_not_of("-0123456789") == std::string::npos;
    if (!digits)
        fail(path, "the header holds no number where the " + name + " should be; save the picture again");
    if (error != std::errc{} || end != word.data() + word.size() || value < 1 || value > largest)
        fail(path, "the " + name + " is " + word + ", it must be from 1 to " + std::to_string(largest) +
                       "; save the picture again");
    return value;
}

/// Passes the single white space, or the comment, between the header and the pixels.
void end_header(std::istream& file, const fs::path& path) {
    const int c = file.get();
    if (c == '#')
        skip_comment(file);
    else if (!is_space(c))
        fail(path, "the header does not end in white space after the maxval; save the picture again");
}

/// The bytes from the stream's position to the end of the file.
std::uint64_t remaining(std::istream& file) {
    const auto here = file.tellg();
    file.seekg(0, std::ios::end);
    const auto end = file.tellg();
    file.seekg(here);
    return static_cast<std::uint64_t>(end - here);
}

}  // namespace

Picture read_picture(const fs::path& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) fail(path, "there is no such file; check the path");
    if (fs::is_directory(status)) fail(path, "is a folder; name a picture in it");
    if (!fs::is_regular_file(status)) fail(path, "is no regular file; copy the picture into one");
    std::ifstream file(path, std::ios::binary);
    if (!file) fail(path, "cannot be read (" + system_reason() + "); check its permissions");

    std::string magic(2, '\0');
    file.read(magic.data(), 2);
    if (file.gcount() == 0) fail(path, "is empty; save the picture again");
    if (magic == "P2" || magic == "P3")
        fail(path, "is an ASCII picture (" + magic + "); make it binary with netpbm: pnmtopnm " +
                       path.filename().string() + " > binary.pnm");
    if (magic != "P5" && magic != "P6")
        fail(
            path,
            "is no binary PGM or PPM (does not begin with P5 or P6); convert it, with ImageMagick: convert " +
                path.filename().string() + " picture.ppm");

    Picture picture;
    picture.channels = magic == "P5" ? 1 : 3;
    picture.width = number(file, path, "width", std::numeric_limits<int>::max());
    picture.height = number(file, path, "height", std::numeric_limits<int>::max());
    const int maxval = number(file, path, "maxval", 65535);
    end_header(file, path);

    const std::uint64_t sample_bytes = maxval > 255 ? 2 : 1;
    const auto height = static_cast<std::uint64_t>(picture.height);
    const std::uint64_t row_bytes = static_cast<std::uint64_t>(picture.width) *
                                    static_cast<std::uint64_t>(picture.channels) * sample_bytes;
    const std::string size = std::to_string(picture.width) + " x " + std::to_string(picture.height);
    if (row_bytes > std::numeric_limits<std::uint64_t>::max() / height)
        fail(path, "claims " + size + " pixels, more than a file can hold; save the picture again");
    const std::uint64_t needed = row_bytes * height;
    const std::uint64_t present = remaining(file);
    if (present < needed)
        fail(path, "is cut off: " + size + " pixels take " + std::to_string(needed) +
                       " bytes, the file has " + std::to_string(present) +
                       "; save or copy the picture again");
    // A header with DOS line ends, told from a first pixel of 10 by the one byte too many.
    if (present == needed + 1 && file.peek() == '\n') {
        file.unget();
        if (file.get() == '\r') file.get();
    }

    std::vector<unsigned char> bytes(needed);
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(needed));
    if (!file) fail(path, "cannot be read to its end (" + system_reason() + "); copy the picture again");
    picture.pixels.resize(needed / sample_bytes);
    for (std::size_t i = 0; i < picture.pixels.size(); ++i) {
        const int sample = sample_bytes == 2 ? bytes[2 * i] * 256 + bytes[2 * i + 1] : bytes[i];
        if (sample > maxval)
            fail(path, "holds a sample of " + std::to_string(sample) + " above its maxval of " +
                           std::to_string(maxval) + "; save the picture again");
        picture.pixels[i] = static_cast<unsigned char>((sample * 255 + maxval / 2) / maxval);
    }
    return picture;
}

void write_picture(const fs::path& path, const Picture& picture) {
    if (picture.channels != 1 && picture.channels != 3)
        fail(path, "a picture of " + std::to_string(picture.channels) +
                       " channels cannot be written; give it 1 (grey) or 3 (colour)");
    if (picture.width < 1 || picture.height < 1)
        fail(path, "a picture of " + std::to_string(picture.width) + " x " + std::to_string(picture.height) +
                       " pixels cannot be written; give it at least one");
    const std::size_t samples = static_cast<std::size_t>(picture.width) *
                                static_cast<std::size_t>(picture.height) *
                                static_cast<std::size_t>(picture.channels);
    if (picture.pixels.size() != samples)
        fail(path, "the picture has " + std::to_string(picture.pixels.size()) + " samples, its size needs " +
                       std::to_string(samples) + "; make the two agree");

    std::ofstream file(path, std::ios::binary);
    file << (picture.channels == 1 ? "P5" : "P6") << '\n'
         << std::to_string(picture.width) << ' ' << std::to_string(picture.height) << "\n255\n";
    file.write(reinterpret_cast<const char*>(picture.pixels.data()), static_cast<std::streamsize>(samples));
    file.close();
    if (!file)
        fail(path, "cannot be written (" + system_reason() + "); choose a folder that exists and has room");
}

}  // namespace kata
