// Seals of reports, and kinds of failures.
#include "check/report.hpp"

#include "error.hpp"
#include "suite.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <string>
#include <unistd.h>

// The seal of a whole report is tested in tests/grading_sheet.py, which reads one.
TEST_CASE("A seal is the HMAC-SHA256 of RFC 4231", "[report]") {
    CHECK(kata::hmac_sha256(std::string(20, '\x0b'), "Hi There") ==
          "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    CHECK(kata::hmac_sha256("Jefe", "what do ya want for nothing?") ==
          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    CHECK(kata::hmac_sha256(std::string(20, '\xaa'), std::string(50, '\xdd')) ==
          "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
}

TEST_CASE("A key that is too short or too long seals nothing", "[report]") {
    const std::string bytes(GENERATE(0, 31, 33), 'k');
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    REQUIRE(write(ends[1], bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    close(ends[1]);
    CHECK_THROWS_AS(kata::seal_reports(ends[0]), kata::Error);
    CHECK(close(ends[0]) != 0);  // the key cannot be read again
    CHECK_FALSE(kata::reports_are_sealed());
    CHECK(kata::sealed("ok 1 - adds") == "ok 1 - adds");
}

TEST_CASE("A failed test counts as slow only if each failure has a share", "[report]") {
    CHECK(kata::kind_of_failure("", 1, {}) == "wrong");
    CHECK(kata::kind_of_failure("", 2, {.shares = {0.5, 0.25}}) == "slow");
    CHECK(kata::kind_of_failure("", 2, {.shares = {0.5}}) ==
          "wrong");  // one of the two failures has no share
    CHECK(kata::kind_of_failure("open: the body of this kata has not been written yet", 1, {}) == "open");
}
