// What is decided of a run before it begins.
#include "core/search/run_planner.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "search/classic.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr MachineShape kShape{.rules = 4, .initializers = 1, .faults = 2};

Tape tape_of(std::uint32_t steps) {
  Tape tape;
  for (std::uint32_t origin = 0; origin < steps; ++origin) {
    tape.begin_step(StepKind::kRule, origin % kShape.rules, origin);
  }
  return tape;
}

struct Planning {
  RunPlanner planner;
  Corpus corpus{10, CheckpointStrategy::kEnergy};
  PlannedRun run;

  explicit Planning(const SessionOptions& options) : planner(kShape, checked(options, kShape)) {}

  const PlannedRun& plan(std::optional<Tape> solution = std::nullopt) {
    planner.plan(run, corpus, std::move(solution));
    planner.report(run, 0, 1, 0);
    return run;
  }

  void keep(std::uint32_t steps) {
    Checkpoint checkpoint{.id = corpus.size() + 1, .prefix = Prefix(tape_of(steps))};
    corpus.add(std::move(checkpoint), planner.schedule());
  }
};

SessionOptions adaptive() { return {.seed = 3, .steps_per_run = 20, .policy = SwarmPolicy::kAdaptive}; }

TEST(RunPlanner, ASolutionIsFollowedFromAFreshMachineForAFewSteps) {
  Planning planning(classic({.checkpoint_prob = 1, .steps_per_run = 1000}));
  planning.keep(3);
  for (int i = 0; i < 20; ++i) {
    const PlannedRun& run = planning.plan(tape_of(5));
    EXPECT_TRUE(run.follows_solution);
    EXPECT_EQ(run.spec.checkpoint, 0U);
    EXPECT_EQ(run.sequence.tape, tape_of(5));
    EXPECT_EQ(run.sequence.changed, std::vector<bool>(5, false));
    EXPECT_LE(run.spec.steps, 8U);
  }
  EXPECT_EQ(planning.planner.runs().counts().starts, RunCounts{}.starts) << "no kind of run was chosen";
  EXPECT_FALSE(planning.plan().follows_solution);
}

TEST(RunPlanner, AnAdaptivePlannerBeginsWithRunsOfTheSimplestKinds) {
  Planning planning(adaptive());
  planning.keep(2);
  for (int i = 0; i < 16; ++i) {
    const RunKind& kind = planning.plan().kind;
    EXPECT_TRUE(kind.start == RunStart::kFresh || kind.start == RunStart::kBranch);
    EXPECT_EQ(kind.swarm, RunSwarm::kFull);
    EXPECT_GE(planning.run.spec.steps, 16U) << "of 20 at the most";
  }
  std::uint32_t starts = 0;
  for (int i = 0; i < 200; ++i) {
    starts |= bit(planning.plan().kind.start);
  }
  EXPECT_EQ(starts, RunKinds{}.starts);
}

// So that one kind of step may outnumber another, and containers fill.
TEST(RunPlanner, AnAdaptivePlannerPrefersSomeRulesInEverySecondRun) {
  Planning planning(adaptive());
  for (int i = 1; i <= 16; ++i) {
    EXPECT_EQ(planning.plan().weights.size(), i % 2 == 0 ? kShape.rules : 0U);
  }
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
