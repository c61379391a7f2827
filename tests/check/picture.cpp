// Pictures in files.
#include "check/picture.hpp"

#include "check/data.hpp"
#include "error.hpp"
#include "suite.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using kata::Picture;
using kata::read_picture;
using kata::write_picture;

/// Returns the message of the Error that `work` throws, "" if it throws none.
template <class Work>
std::string complaint(Work work) {
    try {
        work();
    } catch (const kata::Error& error) {
        return error.what();
    }
    return "";
}

std::string damage(const std::string& bytes) {
    const Folder folder;
    const auto path = folder.holding(bytes);
    const std::string message = complaint([&] { read_picture(path); });
    CHECK_THAT(message, StartsWith(path.string() + ": "));
    CHECK_THAT(message, ContainsSubstring("; "));
    CHECK_THAT(message, !ContainsSubstring("\n"));
    return message;
}

Picture read(const std::string& bytes) {
    const Folder folder;
    return read_picture(folder.holding(bytes));
}

Picture random_picture(int width, int height, int channels) {
    return {width, height, channels,
            coded<unsigned char>(static_cast<std::size_t>(width * height * channels), 1, 255)};
}

using Pixels = std::vector<unsigned char>;

std::string from_hex(std::string_view digits) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
        bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
    return bytes;
}

/// 2 x 1 pixels; the first one is transparent.
const std::string translucent_png = from_hex(
    "89504e470d0a1a0a0000000d4948445200000002000000010806000000f4227f8a0000001149444154789c63e0129163"
    "d030b269000003c70153cee3b4450000000049454e44ae426082");
const std::string png_of_16_bits = from_hex(
    "89504e470d0a1a0a0000000d49484452000000010000000110000000006aee47160000000b49444154789c6310320100"
    "005b004796fb1b650000000049454e44ae426082");
/// 8 x 8 pixels of a single red.
const std::string jpeg = from_hex(
    "ffd8ffe000104a46494600010100000100010000ffdb0043000302020302020303030304030304050805050404050a07"
    "0706080c0a0c0c0b0a0b0b0d0e12100d0e110e0b0b1016101113141515150c0f171816141812141514ffdb0043010304"
    "0405040509050509140d0b0d141414141414141414141414141414141414141414141414141414141414141414141414"
    "1414141414141414141414141414ffc00011080008000803012200021101031101ffc400150001010000000000000000"
    "0000000000000007ffc40014100100000000000000000000000000000000ffc400150101010000000000000000000000"
    "0000000708ffc40014110100000000000000000000000000000000ffda000c03010002110311003f008100325c6fffd9");

}  // namespace

TEST_CASE("A picture comes back as it was written", "[picture]") {
    const Folder folder;
    const int channels = GENERATE(1, 3);
    for (const auto& [width, height] : {std::pair{1, 1}, {1, 9}, {9, 1}, {31, 17}, {640, 480}}) {
        const Picture picture = random_picture(width, height, channels);
        write_picture(folder / "picture", picture);
        CHECK(read_picture(folder / "picture") == picture);
    }
    Picture ramp{16, 16, 1, Pixels(256)};
    std::iota(ramp.pixels.begin(), ramp.pixels.end(), static_cast<unsigned char>(0));
    write_picture(folder / "ramp.png", ramp);
    CHECK(read_picture(folder / "ramp.png") == ramp);
}

TEST_CASE("A longer file is replaced completely", "[picture]") {
    const Folder folder;
    write_picture(folder / "small.png", random_picture(2, 2, 3));
    write_picture(folder / "a.png", random_picture(50, 50, 3));
    write_picture(folder / "a.png", random_picture(2, 2, 3));
    CHECK(std::filesystem::file_size(folder / "a.png") == std::filesystem::file_size(folder / "small.png"));
}

TEST_CASE("PNG, JPEG, PGM and PPM are read, and transparency is dropped", "[picture]") {
    CHECK(read("P5\n# made by hand\n3 1\n255\nabc") == Picture{3, 1, 1, {'a', 'b', 'c'}});
    CHECK(read("P6 1 1 255 abc") == Picture{1, 1, 3, {'a', 'b', 'c'}});
    CHECK(read(translucent_png) == Picture{2, 1, 3, {10, 20, 30, 40, 50, 60}});
    const Picture photo = read(jpeg);
    CHECK(photo.width == 8);
    CHECK(photo.height == 8);
    CHECK(photo.channels == 3);
    for (std::size_t i = 0; i < photo.pixels.size(); i += 3) {
        CHECK(photo.pixels[i] > 195);  // the red is 200, 30, 30
        CHECK(photo.pixels[i + 1] < 40);
    }
}

TEST_CASE("A missing file, or a path that is not a file, is reported", "[picture][damage]") {
    const Folder folder;
    const auto reading = [](const std::filesystem::path& path) {
        return complaint([&] { read_picture(path); });
    };
    CHECK_THAT(reading(folder / "none.pgm"),
               Equals((folder / "none.pgm").string() + ": there is no such file; check the path"));
    CHECK_THAT(reading(folder / "none/none.pgm"), ContainsSubstring("there is no such file"));
    CHECK_THAT(reading(folder / ""), ContainsSubstring("is a folder"));
    CHECK_THAT(reading("/dev/null"), ContainsSubstring("is not a regular file"));
    CHECK_THAT(reading(""), ContainsSubstring("there is no such file"));
}

TEST_CASE("A file that is not a picture, or is truncated, is rejected in one line", "[picture][damage]") {
    CHECK_THAT(damage(""), ContainsSubstring("is empty"));
    for (const std::string other :
         {"P", "P1 1 1", "P2 1 1 255 7", "P7", "hello, world", "\x89PNG\r\n", "\xff\xd8"})
        CHECK_THAT(damage(other), ContainsSubstring("is not a readable PNG, JPEG, binary PGM or PPM"));
    for (const std::string& whole : {translucent_png, jpeg, std::string("P6 2 2 255\nabcdefghijkl")})
        for (const std::size_t missing : {5, 12})
            CHECK_THAT(damage(whole.substr(0, whole.size() - missing)),
                       ContainsSubstring("is cut off or damaged"));
    CHECK_THAT(damage("P5 0 1 255 abc"), ContainsSubstring("; "));
}

TEST_CASE("A picture that is too large or has 16 bits a channel is rejected before it is decoded",
          "[picture][damage]") {
    CHECK_THAT(damage("P5 20000 20000 255\nabc"),
               ContainsSubstring("is too large: 20000 x 20000 pixels, of which 100 million can be read"));
    CHECK_THAT(damage("P5 1 1 65535\nab"), ContainsSubstring("has 16 bits a sample"));
    CHECK_THAT(damage(png_of_16_bits), ContainsSubstring("has 16 bits a sample"));
}

TEST_CASE("A destination that cannot be written is reported with the reason", "[picture][damage]") {
    const Folder folder;
    const int side = GENERATE(1, 200);
    const auto writing = [&](const std::filesystem::path& path) {
        return complaint([&] { write_picture(path, random_picture(side, side, 3)); });
    };
    CHECK_THAT(
        writing(folder / "none/a.ppm"),
        StartsWith((folder / "none/a.ppm").string() + ": cannot be written (No such file or directory); "));
    CHECK_THAT(writing(folder / ""), ContainsSubstring("cannot be written (Is a directory)"));
    if (std::filesystem::exists("/dev/full"))
        CHECK_THAT(writing("/dev/full"), ContainsSubstring("cannot be written (No space left on device)"));
}

TEST_CASE("A picture that contradicts itself is not written", "[picture][damage]") {
    const Folder folder;
    const auto writing = [&](const Picture& picture) {
        const std::string message = complaint([&] { write_picture(folder / "a.ppm", picture); });
        CHECK_FALSE(std::filesystem::exists(folder / "a.ppm"));
        return message;
    };
    CHECK_THAT(writing({2, 2, 2, Pixels(8)}), ContainsSubstring("2 channels"));
    CHECK_THAT(writing({2, 2, 1, Pixels(5)}), ContainsSubstring("has 5 samples, its size needs 4"));
    CHECK_THAT(writing({0, 2, 1, {}}), ContainsSubstring("0 x 2 pixels"));
    CHECK_THAT(writing({-1, -4, 1, Pixels(4)}), ContainsSubstring("-1 x -4 pixels"));
    CHECK_THAT(writing({2147483647, 2147483647, 3, {}}), ContainsSubstring("has 0 samples"));
}
