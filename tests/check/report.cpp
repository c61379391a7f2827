// Kinds of failures.
#include "check/report.hpp"

#include "suite.hpp"

#include <catch2/catch_test_macros.hpp>

TEST_CASE("A failed test counts as slow only if each failure has a share", "[report]") {
    CHECK(kata::kind_of_failure("", 1, {}) == "wrong");
    CHECK(kata::kind_of_failure("", 2, {.shares = {0.5, 0.25}}) == "slow");
    CHECK(kata::kind_of_failure("", 2, {.shares = {0.5}}) ==
          "wrong");  // one of the two failures has no share
    CHECK(kata::kind_of_failure("open: the body of this kata has not been written yet", 1, {}) == "open");
}
