// Which step of a run comes next, without a session around it.
#include "core/search/run_state.h"

#include <gtest/gtest.h>

#include <cstdint>
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
  RunState state;

  explicit Running(double fault_toggle_prob = 0.0) : state(kShape, fault_toggle_prob) {
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

TEST(RunState, TakesAsManyStepsAsPlanned) {
  Running run;
  run.state.begin(Rng(1));
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(run.step().kind, i == 0 ? NextKind::kInitialize : NextKind::kRule);
  }
  EXPECT_EQ(run.step().kind, NextKind::kEnd);
  EXPECT_EQ(run.state.tape().size(), 6U);
}

TEST(RunState, FollowsThePrefixFirst) {
  Running run;
  run.branch_from(tape_of({{StepKind::kInitialize, 0}, {StepKind::kFaultOn, 0}, {StepKind::kRule, 2}}));
  run.state.begin(Rng(1));
  EXPECT_EQ(run.state.prefix_left(), 3U);
  EXPECT_EQ(run.step().kind, NextKind::kInitialize);
  EXPECT_TRUE(run.state.replaying_prefix());
  EXPECT_EQ(run.step().kind, NextKind::kFaultOn);
  EXPECT_TRUE(run.state.faults_on()[0]);
  EXPECT_EQ(run.step().target, 2U);
  EXPECT_EQ(run.state.prefix_left(), 0U);
  run.step();
  EXPECT_FALSE(run.state.replaying_prefix());
}

TEST(RunState, ARestoredPrefixIsOnTheTapeAndNotProposed) {
  const Tape prefix = tape_of({{StepKind::kInitialize, 0}, {StepKind::kFaultOn, 0}});
  Running run;
  run.branch_from(prefix);
  run.state.begin(Rng(1));
  run.state.restored();
  EXPECT_EQ(run.state.tape(), prefix);
  EXPECT_TRUE(run.state.faults_on()[0]);
  EXPECT_EQ(run.step().kind, NextKind::kRule) << "the initialize rule ran in the prefix";
}

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

TEST(RunState, ARejectedRuleIsReplacedByAnotherInTheSameStep) {
  Running run;
  run.state.begin(Rng(1));
  run.step();
  std::vector<bool> offered(kShape.rules, false);
  for (std::uint32_t i = 0; i < kShape.rules; ++i) {
    const NextStep next = run.state.next();
    ASSERT_EQ(next.kind, NextKind::kRule);
    EXPECT_FALSE(offered[next.target]);
    offered[next.target] = true;
    run.state.reject();
  }
  EXPECT_EQ(run.state.next().kind, NextKind::kStuck);
  EXPECT_EQ(run.state.tape().size(), 1U);
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
