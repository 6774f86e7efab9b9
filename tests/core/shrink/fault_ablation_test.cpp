// Which faults of a failing tape are called necessary, for failures of known causes.
#include "core/shrink/fault_ablation.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <set>

#include "core/base/check.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

using Faults = std::set<std::uint32_t>;

Tape tape_with(std::uint32_t faults) {
  Tape tape;
  std::uint32_t origin = 0;
  for (std::uint32_t fault = 0; fault < faults; ++fault) {
    tape.begin_step(StepKind::kFaultOn, fault, origin++);
    tape.begin_step(StepKind::kRule, 0, origin++);
    tape.begin_argument(0);
    tape.add(Choice::integer(fault));
  }
  tape.begin_step(StepKind::kFaultOff, 0, origin++);
  return tape;
}

Faults faults_of(const Tape& tape) {
  Faults faults;
  for (const TapeStep& step : tape.steps()) {
    if (is_fault(step.kind)) {
      faults.insert(step.target);
    }
  }
  return faults;
}

struct Ablated {
  Faults necessary;
  std::set<Faults> asked;
};

Ablated ablate(std::uint32_t faults, const std::function<bool(const Faults&)>& fails) {
  FaultAblation ablation(tape_with(faults));
  Ablated result;
  while (const auto candidate = ablation.candidate()) {
    const Faults left = faults_of(*candidate);
    EXPECT_TRUE(result.asked.insert(left).second) << "asked twice";
    EXPECT_LE(result.asked.size(), 1'000U);
    ablation.accept(fails(left));
  }
  for (const auto& [fault, necessary] : ablation.verdicts()) {
    if (necessary) {
      result.necessary.insert(fault);
    }
  }
  // What is called needless was seen to be: the failure came with nothing but the necessary faults.
  if (result.necessary.size() < faults) {
    EXPECT_TRUE(result.asked.contains(result.necessary));
    EXPECT_TRUE(fails(result.necessary));
  }
  return result;
}

bool any(const Faults& faults, const Faults& of) {
  for (const std::uint32_t fault : of) {
    if (faults.contains(fault)) {
      return true;
    }
  }
  return false;
}

TEST(FaultAblation, ATapeWithoutFaultsNeedsNoCandidate) {
  FaultAblation ablation(tape_with(0).subset({false}));
  EXPECT_FALSE(ablation.candidate().has_value());
  EXPECT_TRUE(ablation.verdicts().empty());
}

TEST(FaultAblation, NamesEachFaultThatIsNeededByItself) {
  EXPECT_EQ(ablate(3, [](const Faults& f) { return f.contains(0) && f.contains(2); }).necessary, (Faults{0, 2}));
}

TEST(FaultAblation, NoFaultIsNeededWhenItFailsWithoutAny) {
  const Ablated ablated = ablate(4, [](const Faults&) { return true; });
  EXPECT_TRUE(ablated.necessary.empty());
  EXPECT_TRUE(ablated.asked.contains(Faults{}));
}

TEST(FaultAblation, AnyOneOfTwoMakesBothNecessary) {
  EXPECT_EQ(ablate(4, [](const Faults& f) { return any(f, {1, 3}); }).necessary, (Faults{1, 3}));
}

TEST(FaultAblation, AnyOneOfThreeMakesAllThreeNecessary) {
  EXPECT_EQ(ablate(3, [](const Faults& f) { return any(f, {0, 1, 2}); }).necessary, (Faults{0, 1, 2}));
  EXPECT_EQ(ablate(9, [](const Faults& f) { return any(f, {2, 5, 8}); }).necessary, (Faults{2, 5, 8}));
}

TEST(FaultAblation, TwoGroupsOfSubstitutesAreBothFound) {
  const auto fails = [](const Faults& f) { return any(f, {0, 1, 2}) && any(f, {4, 5, 6}) && f.contains(7); };
  EXPECT_EQ(ablate(9, fails).necessary, (Faults{0, 1, 2, 4, 5, 6, 7}));
}

TEST(FaultAblation, ASubstituteForAPairIsFound) {
  EXPECT_EQ(ablate(4, [](const Faults& f) { return f.contains(0) || (f.contains(1) && f.contains(2)); }).necessary,
            (Faults{0, 1, 2}));
}

TEST(FaultAblation, EveryMonotoneCauseEndsInAFailureSeenWithTheNecessaryFaultsAlone) {
  // Causes in disjunctive form: bit sets of four faults, any of whose members may be there or not.
  for (std::uint32_t causes = 1; causes < 1U << 15U; causes += 7) {
    const auto fails = [causes](const Faults& faults) {
      std::uint32_t present = 0;
      for (const std::uint32_t fault : faults) {
        present |= 1U << fault;
      }
      for (std::uint32_t cause = 1; cause < 16; ++cause) {
        if ((causes >> (cause - 1) & 1U) != 0 && (present & cause) == cause) {
          return true;
        }
      }
      return false;
    };
    const Faults all{0, 1, 2, 3};
    ASSERT_TRUE(fails(all));
    ablate(4, fails);
  }
}

TEST(FaultAblation, AFailureThatObeysNoRuleStillEnds) {
  // A fault that hides the failure: with it and one more there is none.
  ablate(6, [](const Faults& f) { return f.size() % 2 == 0; });
}

TEST(FaultAblation, OnlyTogglesLeaveTheTape) {
  FaultAblation ablation(tape_with(1));
  const auto candidate = ablation.candidate();
  ASSERT_TRUE(candidate.has_value());
  ASSERT_EQ(candidate->size(), 1U);
  EXPECT_EQ(candidate->step(0).kind, StepKind::kRule);
  EXPECT_EQ(candidate->choice_count(), 1U);
}

TEST(FaultAblation, AVerdictWithoutACandidateIsABrokenCaller) {
  FaultAblation ablation(tape_with(1));
  EXPECT_THROW(ablation.accept(true), CheckFailure);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
