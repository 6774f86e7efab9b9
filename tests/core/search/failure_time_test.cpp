// How much time of a search known hangs may take.
#include "core/search/failure_time.h"

#include <gtest/gtest.h>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

TEST(FailureTime, RulesThatUsedUpTheShareWaitUntilTheSearchHasGoneOn) {
  FailureTime time(3);
  EXPECT_FALSE(time.is_used_up());
  time.spend(1, 3);
  time.search_took(10);
  EXPECT_TRUE(time.waits(1));
  EXPECT_FALSE(time.waits(0));
  time.search_took(13);
  EXPECT_FALSE(time.waits(1));
  EXPECT_FALSE(time.is_used_up());
}

TEST(FailureTime, AllSuchRulesShareOneShare) {
  FailureTime time(3);
  time.search_took(10);
  time.spend(0, 2);
  EXPECT_FALSE(time.waits(0));
  time.spend(1, 1);
  EXPECT_TRUE(time.waits(0));
  EXPECT_TRUE(time.waits(1));
  EXPECT_FALSE(time.waits(2));
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
