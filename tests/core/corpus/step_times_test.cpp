// How slow a run's steps are beside all others, and where that counts at all.
#include "core/corpus/step_times.h"

#include <gtest/gtest.h>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

TEST(StepTimes, FastStepsAreAllAlike) {
  StepTimes times;
  EXPECT_EQ(times.note(0.010, 100), 1);
  EXPECT_EQ(times.note(0.050, 100), 1);
  EXPECT_FALSE(times.matter());
}

TEST(StepTimes, SlowStepsAreMultiplesOfTheMean) {
  StepTimes times;
  EXPECT_DOUBLE_EQ(times.note(1.0, 100), 1);    // the only one so far
  EXPECT_DOUBLE_EQ(times.note(3.0, 100), 1.5);  // 30 ms beside a mean of 20
  EXPECT_DOUBLE_EQ(times.note(1.0, 50), 1);     // 20 ms, like the mean
  EXPECT_TRUE(times.matter());
}

TEST(StepTimes, WhatIsUnknownIsNeitherSlowNorCounted) {
  StepTimes times;
  times.note(1.0, 100);
  EXPECT_EQ(times.note(0, 100), 1);
  EXPECT_EQ(times.note(5.0, 0), 1);
  EXPECT_DOUBLE_EQ(times.note(3.0, 100), 1.5);
}

TEST(StepTimes, OneRunThatWasHeldUpHasALimit) {
  StepTimes times;
  times.note(0.1, 100'000);
  times.note(1.0, 900);
  EXPECT_EQ(times.note(1'000'000, 1), StepTimes::kSlownessMax);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
