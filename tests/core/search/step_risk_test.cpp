// How steps become rarer in the circumstances in which they fail.
#include "core/search/step_risk.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "core/base/check.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr std::uint32_t kArgument = 1;

// A step of rule 1 with this argument, after one of the rule `before`.
Tape tape_of(std::uint32_t before, const Choice& value, std::uint32_t name = kArgument) {
  Tape tape;
  tape.begin_step(StepKind::kRule, before, 0);
  tape.begin_step(StepKind::kRule, 1, 1);
  tape.begin_argument(name);
  tape.add(value);
  return tape;
}

double share_avoided(const StepRisk& risk, const Tape& tape) {
  Rng rng(1);
  int avoided = 0;
  for (int i = 0; i < 10'000; ++i) {
    avoided += risk.avoids_values(tape, rng) ? 1 : 0;
  }
  return avoided / 10'000.0;
}

TEST(StepRisk, AvoidsNothingAndDrawsNothingUntilAStepFailed) {
  StepRisk risk;
  const Tape tape = tape_of(0, Choice::integer(7));
  risk.passed(tape);
  Rng rng(1);
  EXPECT_FALSE(risk.avoids_values(tape, rng));
  EXPECT_FALSE(risk.avoids_next(tape, 1, rng));
  EXPECT_EQ(rng.state(), Rng(1).state());
  EXPECT_TRUE(risk.counts().empty()) << "nothing is counted before the first failure";
}

TEST(StepRisk, AvoidsAValueAsOftenAsItFailed) {
  StepRisk risk;
  const Tape seven = tape_of(0, Choice::integer(7));
  risk.failed(seven);
  EXPECT_EQ(share_avoided(risk, seven), 0.0) << "one failure says little";
  risk.failed(seven);
  risk.failed(seven);
  EXPECT_NEAR(share_avoided(risk, seven), 0.75, 0.02);
  risk.passed(tape_of(0, Choice::integer(6)));
  risk.passed(tape_of(0, Choice::integer(6)));
  EXPECT_NEAR(share_avoided(risk, seven), 0.75, 0.02);
  EXPECT_EQ(share_avoided(risk, tape_of(0, Choice::integer(6))), 0.0) << "as large, and passed as often as it failed";
  EXPECT_EQ(share_avoided(risk, tape_of(0, Choice::integer(-7))), 0.0);
  for (int i = 0; i < 1'000; ++i) {
    risk.failed(seven);
  }
  EXPECT_NEAR(share_avoided(risk, seven), StepRisk::kChanceMax, 0.02);
}

TEST(StepRisk, AvoidsValuesThatAreAsLarge) {
  const std::vector<std::array<Choice, 3>> rows{
      {Choice::integer(-1'000), Choice::integer(-600), Choice::integer(600)},
      {Choice::real(-1.5), Choice::real(-1.25), Choice::real(5.0)},
      {Choice::text("abcde"), Choice::text("xyzw"), Choice::text("")},
      {Choice::real(0.0), Choice::real(0.0), Choice::real(-0.0)},
  };
  for (const auto& [failing, alike, other] : rows) {
    StepRisk risk;
    for (int i = 0; i < 9; ++i) {
      risk.failed(tape_of(0, failing));
    }
    EXPECT_GT(share_avoided(risk, tape_of(0, alike)), 0.8);
    EXPECT_EQ(share_avoided(risk, tape_of(0, other)), 0.0);
  }
}

TEST(StepRisk, DrawsInTheBodyComeTooLate) {
  StepRisk risk;
  const Tape tape = tape_of(0, Choice::integer(7), 0);
  for (int i = 0; i < 9; ++i) {
    risk.failed(tape);
  }
  EXPECT_EQ(share_avoided(risk, tape), 0.0);
}

TEST(StepRisk, AvoidsARuleAfterTheStepsAfterWhichItFailed) {
  StepRisk risk;
  for (int i = 0; i < 9; ++i) {
    risk.failed(tape_of(3, Choice::integer(i)));
  }
  Tape after;
  Rng rng(1);
  const auto avoided = [&] {
    int count = 0;
    for (int i = 0; i < 1'000; ++i) {
      count += risk.avoids_next(after, 1, rng) ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(avoided(), 0) << "at the beginning of a run";
  after.begin_step(StepKind::kRule, 3, 0);
  EXPECT_GT(avoided(), 850);
  after.begin_step(StepKind::kFaultOn, 3, 1);
  EXPECT_EQ(avoided(), 0) << "after a fault of the same number";
}

TEST(StepRisk, ContinuesFromSavedCounts) {
  StepRisk risk;
  risk.failed(tape_of(0, Choice::integer(7)));
  risk.passed(tape_of(0, Choice::integer(6)));
  const std::vector<CircumstanceCounts> counts = risk.counts();
  EXPECT_EQ(counts.size(), 3U) << "the step before, the value, and how large it is";
  StepRisk again;
  again.restore(counts);
  EXPECT_EQ(again.counts(), counts);
  EXPECT_THROW(again.restore(std::vector<CircumstanceCounts>{{.place = StepRisk::kPlaces, .failed = 1}}), CheckFailure);
  EXPECT_THROW(again.restore(std::vector<CircumstanceCounts>{{.place = 0, .passed = 1}}), CheckFailure);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
