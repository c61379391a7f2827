// Counts in files.
#include "check/remembered.hpp"

#include "suite.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>

TEST_CASE("The counts of a module are remembered until it or the suite is rebuilt", "[remembered]") {
    const Folder folder;
    const auto module = folder.holding("module", "a.so"), suite = folder.holding("suite", "suite");
    const auto counts = [] {
        kata::Counts made;
        made.barriers = 7, made.contention = 9;
        return made;
    }();
    CHECK_FALSE(kata::remembered(module, suite));
    kata::remember(module, suite, counts);
    REQUIRE(kata::remembered(module, suite));
    CHECK(*kata::remembered(module, suite) == counts);
    CHECK_FALSE(kata::remembered(module, folder.holding("another", "other")));
    CHECK_FALSE(kata::remembered(module, suite, "a larger problem"));

    const auto changed = folder / GENERATE("a.so", "suite");
    const auto time = last_write_time(changed);
    SECTION("at another time") { last_write_time(changed, time + std::chrono::nanoseconds(1)); }
    SECTION("of another size") {
        std::ofstream(changed, std::ios::app) << "and more";
        last_write_time(changed, time);
    }
    SECTION("and is gone") { std::filesystem::remove(changed); }
    CHECK_FALSE(kata::remembered(module, suite));
}

TEST_CASE("Incomplete counts are not remembered", "[remembered]") {
    const Folder folder;
    const auto module = folder.holding("module", "a.so"), suite = folder.holding("suite", "suite");
    kata::remember(module, suite, {});
    const auto file = folder / "a.so.counts";
    const auto whole = std::filesystem::file_size(file);
    resize_file(file, whole + GENERATE(-1, 1));
    CHECK_FALSE(kata::remembered(module, suite));
    resize_file(file, 0);
    CHECK_FALSE(kata::remembered(module, suite));
}

TEST_CASE("Nothing is remembered if nothing can be written, and that is no error", "[remembered]") {
    const Folder folder;
    const auto suite = folder.holding("suite", "suite");
    kata::remember(folder / "none/a.so", suite, {});
    CHECK_FALSE(kata::remembered(folder / "none/a.so", suite));
    const auto module = folder.holding("module", "a.so");
    std::filesystem::create_directory(folder / "a.so.counts");  // in place of the file
    kata::remember(module, suite, {});
    CHECK_FALSE(kata::remembered(module, suite));
}
