// How the rules of slow programs share time.
#include "core/search/rule_times.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr double kFast = 20e-6;
constexpr double kSlow = 0.004;

void note(RuleTimes& times, std::uint32_t rule, double seconds, int steps) {
  for (int i = 0; i < steps; ++i) {
    times.note(rule, seconds);
  }
}

double share_avoided(const RuleTimes& times, std::uint32_t rule) {
  Rng rng(1);
  int avoided = 0;
  for (int i = 0; i < 10'000; ++i) {
    avoided += times.avoids(rule, rng) ? 1 : 0;
  }
  return avoided / 10'000.0;
}

TEST(RuleTimes, ARuleIsAvoidedByTheRootOfHowDearItIs) {
  RuleTimes times(2);
  note(times, 0, kSlow, 10);
  note(times, 1, 4 * kSlow, 10);
  EXPECT_EQ(share_avoided(times, 0), 0.0);
  EXPECT_NEAR(share_avoided(times, 1), 0.5, 0.02);
}

TEST(RuleTimes, TheDearestRuleIsStillProposed) {
  RuleTimes times(2);
  note(times, 0, kSlow, 10);
  note(times, 1, 10'000 * kSlow, 10);
  EXPECT_NEAR(share_avoided(times, 1), 1 - RuleTimes::kKeptMin, 0.02);
}

TEST(RuleTimes, FastStepsAreAllAlikeAndDrawNothing) {
  RuleTimes times(2);
  note(times, 0, kFast, 100);
  note(times, 1, 9 * kFast, 100);
  Rng rng(1);
  EXPECT_FALSE(times.avoids(1, rng));
  EXPECT_EQ(rng.state(), Rng(1).state());
}

TEST(RuleTimes, OneSlowRuleOfAFastProgramIsLeftAlone) {
  RuleTimes times(2);
  note(times, 0, kFast, 1'000);
  note(times, 1, kSlow, 10);
  EXPECT_EQ(share_avoided(times, 1), 0.0);
}

TEST(RuleTimes, AFewStepsSayNothingOfARule) {
  RuleTimes times(2);
  note(times, 0, kSlow, 10);
  note(times, 1, 100 * kSlow, 3);
  EXPECT_EQ(share_avoided(times, 1), 0.0);
}

TEST(RuleTimes, AnImportMakesNoRuleDear) {
  RuleTimes times(2);
  note(times, 0, kFast, 10);
  note(times, 1, 0.5, 1);
  note(times, 1, kFast, 10);
  EXPECT_EQ(share_avoided(times, 1), 0.0);
}

TEST(RuleTimes, ARuleAloneIsNeverAvoided) {
  RuleTimes times(1);
  note(times, 0, kSlow, 10);
  EXPECT_EQ(share_avoided(times, 0), 0.0);
}

TEST(RuleTimes, MostOfTheStepsSayWhetherTheyAreSlow) {
  RuleTimes times(1);
  note(times, 0, 0.5, 3);
  EXPECT_FALSE(times.are_slow()) << "too few";
  note(times, 0, kFast, 3);
  EXPECT_FALSE(times.are_slow()) << "the first ones imported something";
  note(times, 0, kSlow, 1);
  EXPECT_TRUE(times.are_slow());
  EXPECT_TRUE(times.are_few());
  note(times, 0, kFast, 57);
  EXPECT_FALSE(times.are_few());
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
