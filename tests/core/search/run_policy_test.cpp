// Decisions between runs: periods by run number, costs by counts, and the end of a search.
#include "core/search/run_policy.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

std::vector<std::uint64_t> runs_that(bool WatchSpec::* wanted, bool learns_swarm, bool by_bandit, std::uint64_t last) {
  std::vector<std::uint64_t> found;
  for (std::uint64_t run = 1; run <= last; ++run) {
    if (RunPolicy::watch(run, learns_swarm, by_bandit).*wanted) {
      found.push_back(run);
    }
  }
  return found;
}

TEST(RunPolicy, ArmsEveryLocationAgainInEachHundredthRun) {
  EXPECT_EQ(runs_that(&WatchSpec::full, false, false, 310), (std::vector<std::uint64_t>{100, 200, 300}));
}

TEST(RunPolicy, CountsAllInTheFirstRunsAndInEachTenth) {
  const std::vector<std::uint64_t> runs = runs_that(&WatchSpec::count_all, false, false, 155);
  ASSERT_EQ(runs.size(), 131U);
  EXPECT_EQ(runs[127], 128U);
  EXPECT_EQ((std::vector<std::uint64_t>(runs.begin() + 128, runs.end())), (std::vector<std::uint64_t>{130, 140, 150}));
}

TEST(RunPolicy, CountsAllInFewerRunsOfALongSearch) {
  const std::vector<std::uint64_t> runs = runs_that(&WatchSpec::count_all, false, false, 1155);
  EXPECT_EQ((std::vector<std::uint64_t>(runs.end() - 5, runs.end())),
            (std::vector<std::uint64_t>{990, 1000, 1050, 1100, 1150}));
}

TEST(RunPolicy, ChoosesTheLevelOnceAfterTheWarmUp) {
  EXPECT_EQ(runs_that(&WatchSpec::choose_level, true, true, 1000), (std::vector<std::uint64_t>{21}));
}

TEST(RunPolicy, DirectsNoSwarmThatCannotBeDirected) {
  EXPECT_TRUE(runs_that(&WatchSpec::direct_swarm, false, false, 1000).empty());
  EXPECT_TRUE(runs_that(&WatchSpec::learn_files, false, true, 1000).empty());
}

TEST(RunPolicy, DirectsTheSwarmTenTimesLessOftenWhereABanditDecides) {
  EXPECT_EQ(runs_that(&WatchSpec::direct_swarm, true, false, 160), (std::vector<std::uint64_t>{51, 101, 151}));
  EXPECT_EQ(runs_that(&WatchSpec::direct_swarm, true, true, 1100), (std::vector<std::uint64_t>{501, 1001}));
}

TEST(RunPolicy, LearnsFilesInFullRunsAloneWhereABanditDecides) {
  EXPECT_EQ(runs_that(&WatchSpec::learn_files, true, true, 250), (std::vector<std::uint64_t>{100, 200}));
  EXPECT_EQ(runs_that(&WatchSpec::drop_files, true, true, 250), (std::vector<std::uint64_t>{100, 200}));
  EXPECT_EQ(runs_that(&WatchSpec::learn_files, true, false, 5).size(), 5U);
  EXPECT_TRUE(runs_that(&WatchSpec::drop_files, true, false, 250).empty());
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

TEST(RunPolicy, CopiesAStateOnTheWayBackWhereGoingThereTakesLonger) {
  const ReturnCounts near{.returns = 1, .steps = 8, .seconds = 0.001};
  const ReturnCounts far{.returns = 1, .steps = 9, .seconds = 0.1};
  EXPECT_TRUE(RunPolicy::copying_pays(near, 0, false)) << "what a copy takes is not known yet";
  EXPECT_FALSE(RunPolicy::copying_pays(near, 0.0005, false));
  EXPECT_TRUE(RunPolicy::copying_pays(far, 0.049, false));
  EXPECT_FALSE(RunPolicy::copying_pays(near, 0, true));
  EXPECT_TRUE(RunPolicy::copying_pays(far, 9, true)) << "the clock decides nothing";
}

TEST(RunPolicy, HoldsTheStatesThatTakeLongerThanHoldingThem) {
  const ReturnCounts near{.returns = 1, .steps = 50, .seconds = 0.005};
  const ReturnCounts far{.returns = 1, .steps = 51, .seconds = 0.03};
  EXPECT_FALSE(RunPolicy::holding_pays(near, 0, false));
  EXPECT_TRUE(RunPolicy::holding_pays(far, 0, false));
  EXPECT_TRUE(RunPolicy::holding_pays(far, 0.01, false));
  EXPECT_FALSE(RunPolicy::holding_pays(far, 0.02, false)) << "a large process takes long to fork";
  EXPECT_FALSE(RunPolicy::holding_pays(near, 0, true));
  EXPECT_TRUE(RunPolicy::holding_pays(far, 9, true)) << "the clock decides nothing";
}

std::optional<EndReason> reason(const SearchCounts& counts, std::optional<std::uint64_t> max_runs,
                                std::uint64_t patience) {
  return RunPolicy::end(counts, max_runs, patience).reason;
}

TEST(RunPolicy, EndsAfterTheRunsThatWereAskedFor) {
  EXPECT_EQ(reason({.runs = 99, .steps = 1}, 100, 0), std::nullopt);
  EXPECT_EQ(reason({.runs = 100, .steps = 1}, 100, 0), EndReason::kMaxRuns);
  EXPECT_EQ(reason({.runs = 1'000'000, .steps = 1}, std::nullopt, 0), std::nullopt);
}

TEST(RunPolicy, EndsWhereNoRunOfTheWarmUpMadeAStep) {
  EXPECT_EQ(reason({.runs = 19}, std::nullopt, 0), std::nullopt);
  EXPECT_EQ(reason({.runs = 20}, std::nullopt, 0), EndReason::kStuck);
  EXPECT_EQ(reason({.runs = 20, .steps = 1}, std::nullopt, 0), std::nullopt);
}

TEST(RunPolicy, EndsWhenPatienceIsUsedUp) {
  EXPECT_EQ(reason({.runs = 9, .steps = 9, .runs_without_new_features = 4}, std::nullopt, 5), std::nullopt);
  EXPECT_EQ(reason({.runs = 9, .steps = 9, .runs_without_new_features = 5}, std::nullopt, 5), EndReason::kPatience);
}

TEST(RunPolicy, SaysWhenItIsToBeAskedAgain) {
  EXPECT_EQ(RunPolicy::end({}, std::nullopt, 0).ask_again, RunPolicy::kWarmUpRuns);
  EXPECT_EQ(RunPolicy::end({}, 7, 0).ask_again, 7U);
  EXPECT_EQ(RunPolicy::end({.runs = 30, .steps = 1}, std::nullopt, 0).ask_again,
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(RunPolicy::end({.runs = 30, .steps = 1, .runs_without_new_features = 2}, 100, 10).ask_again, 38U);
}

// Whoever asks only when told to ends where one who always asks does.
TEST(RunPolicy, LosesNoEndByNotBeingAsked) {
  for (const std::uint64_t news_until : {0U, 3U, 25U}) {
    SearchCounts counts;
    std::uint64_t ask_again = 0;
    while (!reason(counts, 40, 12)) {
      if (counts.runs >= ask_again) {
        ask_again = RunPolicy::end(counts, 40, 12).ask_again;
      }
      counts = {.runs = counts.runs + 1,
                .steps = counts.steps + 1,
                .runs_without_new_features = counts.runs < news_until ? 0 : counts.runs_without_new_features + 1};
    }
    EXPECT_GE(counts.runs, ask_again);
  }
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
