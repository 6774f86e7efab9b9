// What a broken check says.
#include "core/base/check.h"

#include <gtest/gtest.h>

#include <string>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

std::string failure(int value) {
  try {
    ORDEAL_CHECK(value < 3, "value=" << value << " of " << 3);
  } catch (const CheckFailure& error) {
    return error.what();
  }
  return "";
}

TEST(Check, NamesThePlaceTheConditionAndTheValues) {
  EXPECT_EQ(failure(2), "");
  const std::string text = failure(7);
  EXPECT_TRUE(text.starts_with("tests/core/base/check_test.cpp:")) << text;
  EXPECT_TRUE(text.ends_with(": check failed: value < 3 (value=7 of 3)")) << text;
}

TEST(Check, TheMessageCostsNothingWhileTheConditionHolds) {
  int evaluated = 0;
  ORDEAL_CHECK(evaluated == 0, ++evaluated);
  EXPECT_EQ(evaluated, 0);
  EXPECT_THROW(ORDEAL_CHECK(evaluated == 1, ++evaluated), CheckFailure);
  EXPECT_EQ(evaluated, 1);
}

TEST(Check, ADetailMayBeEmpty) {
  try {
    ORDEAL_CHECK(1 > 2, "");
    ADD_FAILURE() << "went on";
  } catch (const CheckFailure& error) {
    EXPECT_TRUE(std::string(error.what()).ends_with("check failed: 1 > 2"));
  }
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
