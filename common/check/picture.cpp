#include "check/picture.hpp"

#include "error.hpp"

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>

// A machine without stb, such as a GPU machine without a network, can build everything else.
#if __has_include(<stb/stb_image.h>)
#define KATA_STB
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_ONLY_PNM
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop
#endif

namespace kata {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& what) {
    throw Error(path.string() + ": " + what);
}

std::string system_reason() { return std::generic_category().message(errno); }

using Bytes = std::vector<unsigned char>;

Bytes bytes_of(const fs::path& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) fail(path, "there is no such file; check the path");
    if (fs::is_directory(status)) fail(path, "is a folder; name a picture in it");
    if (!fs::is_regular_file(status)) fail(path, "is not a regular file; copy the picture into one");
    std::ifstream file(path, std::ios::binary);
    if (!file) fail(path, "cannot be read (" + system_reason() + "); check its permissions");
    Bytes bytes((std::istreambuf_iterator<char>(file)), {});
    if (bytes.empty()) fail(path, "is empty; copy the picture again");
    return bytes;
}

#if defined(KATA_STB)

constexpr std::int64_t most_pixels = 100'000'000;
constexpr std::size_t most_bytes = std::size_t{1} << 30;

/// True if a JPEG's last marker is missing, which stb does not report: the rest of such a picture is gray.
/// Ignores the marker of the preview that a camera puts into the header.
bool is_cut_off(const Bytes& jpeg) {
    std::size_t at = 2;
    while (at + 3 < jpeg.size() && jpeg[at] == 0xFF && jpeg[at + 1] != 0xDA)
        at += jpeg[at + 1] == 0xFF ? 1 : 2 + 256 * std::size_t{jpeg[at + 2]} + jpeg[at + 3];
    for (; at + 1 < jpeg.size(); ++at)
        if (jpeg[at] == 0xFF && jpeg[at + 1] == 0xD9) return false;
    return true;
}

#endif

}  // namespace

#if defined(KATA_STB)

Picture read_picture(const fs::path& path) {
    const Bytes bytes = bytes_of(path);
    if (bytes.size() > most_bytes) fail(path, "is larger than any picture of 100 million pixels; shrink it");
    const auto size = static_cast<int>(bytes.size());
    Picture picture;
    int channels = 0;
    if (!stbi_info_from_memory(bytes.data(), size, &picture.width, &picture.height, &channels))
        fail(path, std::string("is not a readable PNG, JPEG, binary PGM or PPM (") + stbi_failure_reason() +
                       "); save it as a PNG");
    const auto pixels = std::int64_t{picture.width} * picture.height;
    if (pixels == 0) fail(path, "has no pixels; save the picture again");
    if (pixels > most_pixels)
        fail(path, "is too large: " + std::to_string(picture.width) + " x " + std::to_string(picture.height) +
                       " pixels, of which 100 million can be read; shrink it");
    if (stbi_is_16_bit_from_memory(bytes.data(), size))
        fail(path, "has 16 bits a sample; save the picture with 8");
    picture.channels = channels < 3 ? 1 : 3;
    const auto samples = static_cast<std::size_t>(pixels * picture.channels);
    const bool is_pnm = bytes[0] == 'P', is_jpeg = bytes[0] == 0xFF;
    // stb does not report a truncated PGM or PPM either. A header is "P5 4000 3000 255 ", or longer.
    const auto least_header =
        std::to_string(picture.width).size() + std::to_string(picture.height).size() + 7;
    const std::unique_ptr<stbi_uc, decltype(&stbi_image_free)> decoded(
        (is_pnm && bytes.size() < samples + least_header) || (is_jpeg && is_cut_off(bytes))
            ? nullptr
            : stbi_load_from_memory(bytes.data(), size, &picture.width, &picture.height, &channels,
                                    picture.channels),
        stbi_image_free);
    if (!decoded) fail(path, "is cut off or damaged; copy the picture again");
    picture.pixels.assign(decoded.get(), decoded.get() + samples);
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
    if (file)
        stbi_write_png_to_func(
            [](void* context, void* data, int bytes) {
                static_cast<std::ofstream*>(context)->write(static_cast<const char*>(data), bytes);
            },
            &file, picture.width, picture.height, picture.channels, picture.pixels.data(), 0);
    file.close();
    if (!file)
        fail(path, "cannot be written (" + system_reason() + "); choose a folder that exists and has room");
}

#else

constexpr const char* without_stb =
    "this build reads and writes no pictures, because it was made without stb; ./kata setup installs it, "
    "then touch common/check/picture.cpp";
Picture read_picture(const fs::path& path) {
    bytes_of(path);
    fail(path, without_stb);
}
void write_picture(const fs::path& path, const Picture&) { fail(path, without_stb); }

#endif

}  // namespace kata
