// Which step of a run comes next, without a session around it.
#include "core/search/run_state.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/check.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr MachineShape kShape{.rules = 3, .initializers = 1, .faults = 1};

Tape tape_of(const std::vector<std::pair<StepKind, std::uint32_t>>& steps) {
  Tape tape;
  for (const auto& [kind, target] : steps) {
    tape.begin_step(kind, target, static_cast<std::uint32_t>(tape.size()));
    tape.begin_argument(1);
    tape.add(Choice::integer(target));
  }
  return tape;
}

struct Running {
  RuleStats stats{kShape.rules, kShape.faults, true};
  RunState state;

  explicit Running(double fault_toggle_prob = 0.0)
      : state(kShape, {.fault_toggle_prob = fault_toggle_prob, .steps_per_run = 10'000}, stats) {
    state.planned().spec = {.run_id = 1, .steps = 6};
    state.planned().configuration = {std::vector<bool>(kShape.rules, true), std::vector<bool>(kShape.faults, true)};
  }

  void branch_from(Tape prefix) {
    state.planned().spec.checkpoint = 1;
    state.planned().prefix = std::move(prefix);
  }

  NextStep step() {
    const NextStep next = state.next();
    if (next.kind != NextKind::kEnd) {
      state.step_done();
    }
    return next;
  }
};

TEST(RunState, LeavesOutStepsOfASequenceThatChangeNothing) {
  Running run;
  run.state.planned().sequence.tape =
      tape_of({{StepKind::kInitialize, 0}, {StepKind::kFaultOff, 0}, {StepKind::kInitialize, 0}, {StepKind::kRule, 1}});
  run.state.planned().sequence.changed.assign(4, false);
  run.state.begin(Rng(1));
  EXPECT_EQ(run.step().kind, NextKind::kInitialize);
  const NextStep next = run.step();
  EXPECT_EQ(next.kind, NextKind::kRule);
  EXPECT_EQ(next.target, 1U);
}

TEST(RunState, ARuleThatWaitsIsLeftOutOfASequenceAndComesLast) {
  Running run;
  run.stats.lost(1, 30);
  run.state.planned().sequence.tape = tape_of({{StepKind::kInitialize, 0}, {StepKind::kRule, 1}, {StepKind::kRule, 2}});
  run.state.planned().sequence.changed.assign(3, false);
  run.state.begin(Rng(1));
  EXPECT_EQ(run.step().kind, NextKind::kInitialize);
  EXPECT_EQ(run.step().target, 2U);
  EXPECT_NE(run.state.next().target, 1U);
  run.state.reject();
  EXPECT_NE(run.state.next().target, 1U);
  run.state.reject();
  EXPECT_EQ(run.state.next().target, 1U);
}

TEST(RunState, AStepOfThePrefixCostsAQuarterOfANewOne) {
  Running run;
  run.state.begin(Rng(1));
  const std::uint64_t cost_at_start = run.state.cost();
  run.step();
  EXPECT_EQ(run.state.cost(), cost_at_start + 4);
  run.state.end();
  run.branch_from(tape_of({{StepKind::kInitialize, 0}}));
  run.state.begin(Rng(1));
  run.state.restored();
  EXPECT_EQ(run.state.cost(), cost_at_start + 1);
}

// Proposes steps until one that fails as told, and steps back from it.
struct Failing : Running {
  using Running::Running;

  bool fail(std::uint64_t failure = 1, bool slow = false) {
    state.next();
    return state.step_back(failure, slow);
  }
  void go_again() {
    while (state.prefix_left() > 0) {
      step();
      EXPECT_TRUE(state.replaying_prefix());
    }
  }
};

TEST(RunState, AStepBackDropsTheStepAndGoesOverTheOthersAgain) {
  Failing run;
  run.state.begin(Rng(1));
  run.step();
  run.step();
  run.step();
  const Tape before = run.state.tape();
  ASSERT_TRUE(run.fail());
  EXPECT_TRUE(run.state.tape().empty());
  EXPECT_EQ(run.state.prefix_left(), 3U);
  run.go_again();
  EXPECT_EQ(run.state.tape(), before);
  EXPECT_EQ(run.step().kind, NextKind::kRule);
  EXPECT_EQ(run.step().kind, NextKind::kRule);
  EXPECT_EQ(run.step().kind, NextKind::kEnd) << "the step that failed counts for the length of the run";
}

TEST(RunState, AStepBackRestoresFaultsAndInitializeRules) {
  Failing run(1.0);
  run.state.begin(Rng(1));
  ASSERT_TRUE(run.fail());
  EXPECT_EQ(run.step().kind, NextKind::kInitialize) << "it did not run";
  EXPECT_EQ(run.step().kind, NextKind::kFaultOn);
  EXPECT_EQ(run.state.next().kind, NextKind::kFaultOff);
  ASSERT_TRUE(run.state.step_back(2, false));
  EXPECT_FALSE(run.state.faults_on()[0]);
  run.go_again();
  EXPECT_TRUE(run.state.faults_on()[0]);
}

TEST(RunState, AStepBackContinuesTheDrawsAndKeepsTheStartOfTheCheckpoint) {
  Tape prefix;  // without arguments, which the steps below do not draw
  prefix.begin_step(StepKind::kInitialize, 0, 0);
  prefix.begin_step(StepKind::kFaultOn, 0, 1);
  const auto draws_after = [&](bool restores) {
    Failing run;
    run.branch_from(prefix);
    run.state.begin(Rng(1));
    restores ? run.state.restored() : run.go_again();
    run.state.next();
    run.state.source().begin_argument(1);
    const std::int64_t first = run.state.source().integer(0, 1'000'000, 0);
    run.state.step_done();
    EXPECT_TRUE(run.fail());
    if (restores) {
      run.state.restored();
      EXPECT_EQ(run.state.prefix_left(), 1U);
      EXPECT_TRUE(run.state.faults_on()[0]);
    }
    while (run.state.prefix_left() > 1) {
      run.step();
    }
    run.state.next();
    run.state.source().begin_argument(1);
    EXPECT_EQ(run.state.source().integer(0, 1'000'000, 0), first) << "the step comes again with what it drew";
    run.state.step_done();
    run.state.next();
    run.state.source().begin_argument(1);
    const std::int64_t second = run.state.source().integer(0, 1'000'000, 0);
    run.state.step_done();
    return std::pair(run.state.tape(), second);
  };
  EXPECT_EQ(draws_after(true), draws_after(false));
}

// A copy of the state on the way back stands for the steps that lead there.
TEST(RunState, AStepBackMayAdoptSomeOfTheStepsThatAreLeft) {
  const auto run_by = [](std::optional<std::size_t> adopted) {
    Failing run(0.5);
    run.state.planned().spec.steps = 20;
    run.state.begin(Rng(1));
    for (int i = 0; i < 5; ++i) {
      run.step();
    }
    EXPECT_TRUE(run.fail());
    if (adopted) {
      run.state.restored(*adopted);
      EXPECT_EQ(run.state.tape().size(), *adopted);
      EXPECT_EQ(run.state.prefix_left(), 5 - *adopted);
    }
    run.go_again();
    while (run.step().kind != NextKind::kEnd) {
    }
    return run.state.tape();
  };
  const Tape gone_over = run_by(std::nullopt);
  EXPECT_EQ(run_by(3), gone_over);
  EXPECT_EQ(run_by(5), gone_over);
  EXPECT_THROW(run_by(0), CheckFailure);
  EXPECT_THROW(run_by(6), CheckFailure) << "it was taken back";
}

TEST(RunState, TheRuleThatFailedIsProposedLast) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Failing run;
    run.state.planned().rng = Rng(seed);
    run.state.begin(Rng(1));
    run.step();
    const NextStep failed = run.state.next();
    ASSERT_TRUE(run.state.step_back(1, false));
    run.go_again();
    for (std::uint32_t i = 1; i < kShape.rules; ++i) {
      EXPECT_NE(run.state.next().target, failed.target);
      run.state.reject();
    }
    EXPECT_EQ(run.state.next().target, failed.target);
  }
}

TEST(RunState, TheSameFailureWithoutProgressTakesBackMoreStepsAndThenEndsTheRun) {
  Failing run;
  run.state.planned().spec.steps = 50;
  run.state.begin(Rng(1));
  for (int i = 0; i < 6; ++i) {
    run.step();
  }
  for (const std::size_t left : {6U, 6U, 6U, 5U, 3U, 0U}) {
    ASSERT_TRUE(run.fail());
    EXPECT_EQ(run.state.prefix_left(), left);
    run.go_again();
  }
  EXPECT_FALSE(run.fail());
}

TEST(RunState, StepsBackOnlySoOftenInARun) {
  Failing run;
  run.state.planned().spec.steps = 500;
  run.state.begin(Rng(1));
  std::uint32_t step_backs = 0;
  while (run.fail(step_backs)) {
    run.go_again();
    run.step();
    ++step_backs;
  }
  EXPECT_EQ(step_backs, RunState::kStepBacksMax);
  run.state.begin(Rng(1));
  EXPECT_TRUE(run.fail()) << "another run may again";
}

TEST(RunState, GoesOverOnlySoManyStepsAgainInARun) {
  Failing run;
  run.state.planned().spec.steps = 5'000;
  run.state.begin(Rng(1));
  for (std::size_t i = 0; i < RunState::kStepsAgainMax; ++i) {
    run.step();
  }
  EXPECT_TRUE(run.fail(1));
  run.go_again();
  EXPECT_FALSE(run.fail(2));
}

TEST(RunState, TakesBackOneSlowStepInARunAndNoneAfterWhichTheRunIsOver) {
  Failing run;
  run.state.begin(Rng(1));
  run.step();
  EXPECT_TRUE(run.fail(1, true));
  run.go_again();
  EXPECT_FALSE(run.fail(2, true));
  run.state.planned().spec.steps = 1;
  run.state.begin(Rng(1));
  EXPECT_FALSE(run.fail());
}

TEST(RunState, DoesNotStepBackFromAStepThatComesAgain) {
  Failing run;
  run.state.begin(Rng(1));
  run.step();
  ASSERT_TRUE(run.fail());
  EXPECT_FALSE(run.fail(2)) << "it passed before, so the machine is not deterministic";
}

TEST(RunState, SteppingBackCostsAMachineAndAQuarterOfEachStepThatComesAgain) {
  Failing run;
  run.state.begin(Rng(1));
  run.step();
  run.step();
  const std::uint64_t cost = run.state.cost();
  ASSERT_TRUE(run.fail());
  run.go_again();
  EXPECT_EQ(run.state.cost(), cost + 16 + 2);
}

// Takes a step with this argument in rule 1 as failed, so often that it counts.
void fail_with(Running& run, std::int64_t argument) {
  Tape tape;
  tape.begin_step(StepKind::kRule, 1, 0);
  tape.begin_argument(1);
  tape.add(Choice::integer(argument));
  for (int i = 0; i < 50; ++i) {
    run.stats.failed_again(tape);
  }
}

TEST(RunState, ArgumentsThatFailedAreDrawnAgainSomeTimes) {
  Running run;
  fail_with(run, 7);
  run.state.planned().spec.steps = 50;
  run.state.begin(Rng(1));
  run.step();
  int again = 0;
  for (NextStep next = run.state.next(); next.kind != NextKind::kEnd; next = run.state.next()) {
    const TapeStep before = run.state.tape().last_step();
    run.state.source().begin_argument(1);
    run.state.source().put(Choice::integer(7));
    std::uint32_t redraws = 0;
    while (run.state.draws_again()) {
      EXPECT_EQ(run.state.tape().last_step().origin, before.origin);
      EXPECT_TRUE(run.state.tape().arguments(run.state.tape().last_step()).empty());
      run.state.source().begin_argument(1);
      run.state.source().put(Choice::integer(7));
      ++redraws;
    }
    EXPECT_LE(redraws, RunState::kAvoidedMax);
    EXPECT_TRUE(redraws == 0 || next.target == 1) << "other rules did not fail";
    again += redraws > 0 ? 1 : 0;
    run.state.step_done();
  }
  EXPECT_GT(again, 0);
}

TEST(RunState, WhatIsReadFromATapeIsNotDrawnAgain) {
  Running run;
  fail_with(run, 1);
  run.branch_from(tape_of({{StepKind::kInitialize, 0}, {StepKind::kRule, 1}}));
  run.state.begin(Rng(1));
  for (int i = 0; i < 2; ++i) {
    run.state.next();
    run.state.source().begin_argument(1);
    EXPECT_EQ(run.state.source().integer(0, 9, 0), i);
    EXPECT_FALSE(run.state.draws_again());
    run.state.step_done();
  }
}

TEST(RunState, ChecksWhatItIsTold) {
  Running run;
  run.state.begin(Rng(1));
  EXPECT_THROW(run.state.restored(), CheckFailure) << "a fresh run has no prefix";
  run.state.next();
  EXPECT_THROW(run.state.reject(), CheckFailure) << "an initialize rule cannot be rejected";
  run.state.planned().configuration.rules.pop_back();
  EXPECT_THROW(run.state.begin(Rng(1)), CheckFailure) << "a plan of another machine";
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
