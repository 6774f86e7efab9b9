// Toy machines whose planted bugs a session must find within a stated number of runs, whatever the seed.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "search/classic.h"
#include "toy_targets.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr std::uint64_t kSeeds = 20;

struct Tally {
  std::uint64_t found = 0;
  std::uint64_t runs = 0;  // of the seeds that found it
};

template <typename Machine>
Tally solve(SessionOptions options, std::uint64_t runs_max, SwarmPolicy policy = SwarmPolicy::kClassic) {
  options.policy = policy;
  Tally tally;
  for (options.seed = 0; options.seed < kSeeds; ++options.seed) {
    if (const auto runs = runs_until_found<Machine>(options, runs_max)) {
      ++tally.found;
      tally.runs += *runs;
    }
  }
  return tally;
}

TEST(Puzzles, TheStaircaseIsClimbedFromCheckpointsInTwoThousandRuns) {
  EXPECT_EQ(solve<Staircase>({}, 2000).found, kSeeds);
}

TEST(Puzzles, WithoutCheckpointsTheStaircaseIsTooHigh) {
  // One run in 6^12 / 25 would do it.
  EXPECT_EQ(solve<Staircase>({.checkpoint_prob = 0}, 4000).found, 0U);
}

TEST(Puzzles, EveryStrategyClimbsTheStaircase) {
  std::vector<std::uint64_t> runs;
  for (const CheckpointStrategy strategy :
       {CheckpointStrategy::kEnergy, CheckpointStrategy::kUniform, CheckpointStrategy::kRecent}) {
    const Tally tally = solve<Staircase>({.checkpoint_strategy = strategy}, 2000);
    EXPECT_EQ(tally.found, kSeeds);
    runs.push_back(tally.runs);
  }
  // The newest checkpoint is the highest step here, so `recent` must win, and energy must not lose to blind choice.
  EXPECT_LT(runs[2], runs[1]);
  EXPECT_LT(runs[0], runs[1] * 5 / 4);
}

TEST(Puzzles, TheShelfFillsInAHundredRunsWhenTheSwarmTurnsClearingOff) {
  EXPECT_EQ(solve<Shelf>({.rule_swarm = true}, 100).found, kSeeds);
}

TEST(Puzzles, WithoutASwarmTheShelfStaysEmpty) { EXPECT_LE(solve<Shelf>({}, 1000).found, 1U); }

TEST(Puzzles, TwoFaultsAndAChainAreFoundInFiveHundredRuns) { EXPECT_EQ(solve<Logbook>({}, 500).found, kSeeds); }

TEST(Puzzles, WithoutFaultsTheLogbookHolds) { EXPECT_EQ(solve<Logbook>({.fault_toggle_prob = 0}, 500).found, 0U); }

TEST(Puzzles, SwarmsDoNotHideTheFaultBug) {
  EXPECT_EQ(solve<Logbook>({.rule_swarm = true}, 1500).found, kSeeds);
  EXPECT_EQ(solve<Logbook>({.swarm = SwarmDistribution::kCoinFlip}, 1500).found, kSeeds);
}

TEST(Puzzles, TheAdaptivePolicyLosesNoneOfThem) {
  EXPECT_EQ(solve<Staircase>({}, 2000, SwarmPolicy::kAdaptive).found, kSeeds);
  EXPECT_EQ(solve<Shelf>({}, 150, SwarmPolicy::kAdaptive).found, kSeeds);
  EXPECT_EQ(solve<Logbook>({}, 750, SwarmPolicy::kAdaptive).found, kSeeds);
}

// Of a new kind of run it is the half of the seeds that counts: chance has much to say here.
TEST(Puzzles, RepeatedPartsBreakTheMillInFourThousandRuns) {
  EXPECT_GE(solve<Mill>({}, 4000, SwarmPolicy::kAdaptive).found, kSeeds / 2);
}

TEST(Puzzles, WithoutRepetitionTheMillHoldsForTwentyTimesAsMany) {
  EXPECT_FALSE(runs_until_found<Mill>(classic(), 80'000).has_value());
  EXPECT_FALSE(runs_until_found<Mill>(classic({.rule_swarm = true}), 80'000).has_value());
}

TEST(Puzzles, JoinedPartsGoBothWaysInFiveThousandRuns) {
  EXPECT_GE(solve<TwoWays>({}, 5000, SwarmPolicy::kAdaptive).found, kSeeds / 2);
}

TEST(Puzzles, WithoutJoiningNobodyGoesBothWaysInTwentyTimesAsMany) {
  EXPECT_FALSE(runs_until_found<TwoWays>(classic(), 100'000).has_value());
  EXPECT_FALSE(runs_until_found<TwoWays>(classic({.rule_swarm = true}), 100'000).has_value());
}

TEST(Puzzles, WithoutCoverageThePairsOfStepsLead) {
  EXPECT_EQ(solve<Logbook>({.pair_features = true}, 1000).found, kSeeds);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
