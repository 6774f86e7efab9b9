// Decisions between runs: periods by run number, costs by counts, and the end of a search.
#include "core/search/run_policy.h"

#include <gtest/gtest.h>

#include <vector>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

std::vector<std::uint64_t> runs_that(bool WatchPlan::* wanted, bool learns_swarm, bool by_bandit, std::uint64_t last) {
  std::vector<std::uint64_t> found;
  for (std::uint64_t run = 1; run <= last; ++run) {
    if (RunPolicy::watch(run, learns_swarm, by_bandit).*wanted) {
      found.push_back(run);
    }
  }
  return found;
}

TEST(RunPolicy, ArmsEveryLocationAgainInEachHundredthRun) {
  EXPECT_EQ(runs_that(&WatchPlan::full, false, false, 310), (std::vector<std::uint64_t>{100, 200, 300}));
}

TEST(RunPolicy, ChoosesTheLevelOnceAfterTheWarmUp) {
  EXPECT_EQ(runs_that(&WatchPlan::choose_level, true, true, 1000), (std::vector<std::uint64_t>{21}));
}

TEST(RunPolicy, DirectsNoSwarmThatCannotBeDirected) {
  EXPECT_TRUE(runs_that(&WatchPlan::direct_swarm, false, false, 1000).empty());
  EXPECT_TRUE(runs_that(&WatchPlan::learn_files, false, true, 1000).empty());
}

TEST(RunPolicy, DirectsTheSwarmTenTimesLessOftenWhereABanditDecides) {
  EXPECT_EQ(runs_that(&WatchPlan::direct_swarm, true, false, 160), (std::vector<std::uint64_t>{51, 101, 151}));
  EXPECT_EQ(runs_that(&WatchPlan::direct_swarm, true, true, 1100), (std::vector<std::uint64_t>{501, 1001}));
}

TEST(RunPolicy, LearnsFilesInFullRunsAloneWhereABanditDecides) {
  EXPECT_EQ(runs_that(&WatchPlan::learn_files, true, true, 250), (std::vector<std::uint64_t>{100, 200}));
  EXPECT_EQ(runs_that(&WatchPlan::drop_files, true, true, 250), (std::vector<std::uint64_t>{100, 200}));
  EXPECT_EQ(runs_that(&WatchPlan::learn_files, true, false, 5).size(), 5U);
  EXPECT_TRUE(runs_that(&WatchPlan::drop_files, true, false, 250).empty());
}

TEST(RunPolicy, CountsUpToFiftyEventsAStep) {
  EXPECT_FALSE(RunPolicy::counting_is_expensive(500, 10));
  EXPECT_TRUE(RunPolicy::counting_is_expensive(501, 10));
  EXPECT_FALSE(RunPolicy::counting_is_expensive(50, 0));
  EXPECT_TRUE(RunPolicy::counting_is_expensive(51, 0));
}

TEST(RunPolicy, ChecksCopiesEarlyAndThenRarely) {
  RunPolicy policy;
  std::vector<std::uint64_t> checked;
  for (std::uint64_t run = 1; run <= 200; ++run) {
    if (policy.check_copy()) {
      checked.push_back(run);
    }
  }
  EXPECT_EQ(checked, (std::vector<std::uint64_t>{1, 4, 16, 64, 128, 192}));
}

TEST(RunPolicy, HoldsNoStateBeforeTheCostOfReturningIsKnown) {
  EXPECT_FALSE(RunPolicy::returning_is_expensive({.returns = 7, .steps = 7000, .seconds = 70}, 100, false));
  EXPECT_FALSE(RunPolicy::returning_is_expensive({.returns = 8, .steps = 8000, .seconds = 80}, 20, false));
  EXPECT_TRUE(RunPolicy::returning_is_expensive({.returns = 8, .steps = 8000, .seconds = 80}, 21, false));
}

TEST(RunPolicy, LooksAtStepsWhereTheClockMustNotDecide) {
  const ReturnCounts slow{.returns = 10, .steps = 2000, .seconds = 10};
  const ReturnCounts deep{.returns = 10, .steps = 2001, .seconds = 0};
  EXPECT_TRUE(RunPolicy::returning_is_expensive(slow, 50, false));
  EXPECT_FALSE(RunPolicy::returning_is_expensive(slow, 50, true));
  EXPECT_FALSE(RunPolicy::returning_is_expensive(deep, 50, false));
  EXPECT_TRUE(RunPolicy::returning_is_expensive(deep, 50, true));
}

TEST(RunPolicy, EndsAfterTheRunsThatWereAskedFor) {
  EXPECT_EQ(RunPolicy::end({.runs = 99, .steps = 1}, 100, 0), std::nullopt);
  EXPECT_EQ(RunPolicy::end({.runs = 100, .steps = 1}, 100, 0), EndReason::kMaxRuns);
  EXPECT_EQ(RunPolicy::end({.runs = 1'000'000, .steps = 1}, std::nullopt, 0), std::nullopt);
}

TEST(RunPolicy, EndsWhereNoRunOfTheWarmUpMadeAStep) {
  EXPECT_EQ(RunPolicy::end({.runs = 19}, std::nullopt, 0), std::nullopt);
  EXPECT_EQ(RunPolicy::end({.runs = 20}, std::nullopt, 0), EndReason::kStuck);
  EXPECT_EQ(RunPolicy::end({.runs = 20, .steps = 1}, std::nullopt, 0), std::nullopt);
}

TEST(RunPolicy, EndsWhenPatienceIsUsedUp) {
  std::uint64_t without = 0;
  for (int run = 0; run < 4; ++run) {
    without = RunPolicy::runs_without_news(without, false);
  }
  EXPECT_EQ(RunPolicy::end({.runs = 9, .steps = 9, .runs_without_news = without}, std::nullopt, 5), std::nullopt);
  without = RunPolicy::runs_without_news(without, false);
  EXPECT_EQ(RunPolicy::end({.runs = 9, .steps = 9, .runs_without_news = without}, std::nullopt, 5),
            EndReason::kPatience);
  EXPECT_EQ(RunPolicy::runs_without_news(without, true), 0U);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
