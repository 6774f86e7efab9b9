// Kinds of steps on a tape and kinds of what comes next are the same numbers.
#include "core/tape/step_source.h"

#include <gtest/gtest.h>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

TEST(StepSource, StepsKeepTheirKind) {
  for (const StepKind kind : {StepKind::kRule, StepKind::kInitialize, StepKind::kFaultOn, StepKind::kFaultOff}) {
    EXPECT_EQ(step_kind(next_kind(kind)), kind);
  }
  EXPECT_EQ(next_kind(StepKind::kInitialize), NextKind::kInitialize);
  EXPECT_EQ(next_kind(StepKind::kFaultOn), NextKind::kFaultOn);
}

TEST(StepSource, NothingSaidIsTheEnd) { EXPECT_EQ(NextStep().kind, NextKind::kEnd); }

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
