// Tests that a search that is steered goes deeper in fewer runs, that a plan can be repeated, and that seeds decide
// all.
#include "core/schedule/schedule_planner.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr std::size_t kKinds = 2;
constexpr unsigned kAll = 0b1111;
constexpr unsigned kDrawnOnly = 0b0001;

// A program of stages: each goes on only after a decision with one value of four, and a new task runs in it.
std::uint64_t stages(Schedule& schedule, std::uint64_t wanted) {
  std::uint64_t reached = 0;
  while (reached < wanted) {
    schedule.step(1, reached);
    if (schedule.decide(0, 7, 8, 4) != 2) {
      break;
    }
    ++reached;
    schedule.step(100 + reached, 0);
  }
  return reached;
}

// How many runs are made until all stages are passed.
std::uint64_t runs_needed(unsigned policies, std::uint64_t wanted, std::uint64_t first) {
  SchedulePlanner planner(kKinds, policies);
  for (std::uint64_t run = 1; run < 20'000; ++run) {
    Schedule schedule = planner.next(first + run).schedule();
    if (stages(schedule, wanted) == wanted) {
      return run;
    }
    planner.tell(schedule);
  }
  return 20'000;
}

TEST(SchedulePlanner, StagesArePassedInFewRuns) {
  std::uint64_t steered = 0;
  std::uint64_t drawn = 0;
  for (std::uint64_t first = 0; first < 5; ++first) {
    steered += runs_needed(kAll, 5, first * 1'000'000);
    drawn += runs_needed(kDrawnOnly, 5, first * 1'000'000);
  }
  EXPECT_LT(steered * 5, drawn);
}

TEST(SchedulePlanner, SeedZeroDoesNothing) {
  SchedulePlanner planner(kKinds, kAll);
  EXPECT_EQ(planner.next(0).policy, SchedulePolicy::kDrawn);
  Schedule schedule = planner.plan().schedule();
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(schedule.decide(0, 1, 2, 5), 0U);
  }
}

// So a bug that shows in a few drawn runs is not found later.
TEST(SchedulePlanner, TheFirstRunsFollowNoEarlierOne) {
  SchedulePlanner planner(kKinds, kAll);
  for (std::uint64_t run = 0; run < 20; ++run) {
    const SchedulePlan& plan = planner.next(run);
    EXPECT_TRUE(plan.fixed.empty());
    EXPECT_TRUE(run >= 4 || plan.policy == SchedulePolicy::kDrawn);
    Schedule schedule = plan.schedule();
    stages(schedule, 9);
    planner.tell(schedule);
  }
}

TEST(SchedulePlanner, ItsSeedsDecideAll) {
  SchedulePlanner one(kKinds, kAll);
  SchedulePlanner other(kKinds, kAll);
  bool is_steered = false;
  for (std::uint64_t run = 1; run < 300; ++run) {
    Schedule first = one.next(run).schedule();
    Schedule second = other.next(run).schedule();
    stages(first, 9);
    stages(second, 9);
    ASSERT_EQ(first.event_hash(), second.event_hash());
    Schedule again = one.plan().schedule();
    stages(again, 9);
    ASSERT_EQ(again.event_hash(), first.event_hash());
    is_steered = is_steered || one.plan().policy == SchedulePolicy::kFollow;
    one.tell(first);
    other.tell(second);
  }
  EXPECT_TRUE(is_steered);
  EXPECT_EQ(one.known(), other.known());
}

TEST(SchedulePlanner, WhatItKeepsIsLimited) {
  SchedulePlanner planner(kKinds, kAll);
  for (std::uint64_t run = 1; run < 2'000; ++run) {
    Schedule schedule = planner.next(run).schedule();
    schedule.step(run, 0);
    schedule.step(run + 1'000'000, 0);
    planner.tell(schedule);
  }
  EXPECT_LE(planner.kept(), 512U);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
