// One root for what callers do wrong, apart from what we do wrong.
#include "core/base/error.h"

#include <gtest/gtest.h>

#include <type_traits>

#include "core/base/check.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

TEST(Error, CallersErrorsHaveOneRootThatIsNoCheck) {
  EXPECT_THROW(throw ConfigError("steps"), Error);
  EXPECT_THROW(throw TraceError("frame"), Error);
  EXPECT_STREQ(ConfigError("steps is 0").what(), "steps is 0");
  EXPECT_FALSE((std::is_base_of_v<Error, CheckFailure>));
  EXPECT_FALSE((std::is_base_of_v<CheckFailure, Error>));
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
