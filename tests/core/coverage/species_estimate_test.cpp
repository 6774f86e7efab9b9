// The estimates against simulated species, of which the truth is known.
#include "core/coverage/species_estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/rng.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

// Species that each run shows with a probability of its own, independent of one another.
struct Forest {
  std::vector<double> chances;
  std::vector<FeatureFrequency> frequencies;
  std::uint32_t runs = 0;

  explicit Forest(std::vector<double> of_species) : chances(std::move(of_species)), frequencies(chances.size()) {}

  void walk(std::uint32_t more, Rng& rng) {
    for (std::uint32_t i = 0; i < more; ++i) {
      ++runs;
      for (std::size_t species = 0; species < chances.size(); ++species) {
        if (rng.chance(chances[species])) {
          frequencies[species].in_run(runs);
        }
      }
    }
  }

  // The probability that the next run shows a species which none has shown.
  [[nodiscard]] double next_run() const {
    double nothing = 1;
    for (std::size_t species = 0; species < chances.size(); ++species) {
      nothing *= frequencies[species].runs == 0 ? 1 - chances[species] : 1;
    }
    return 1 - nothing;
  }

  [[nodiscard]] SampleCounts sample_counts() const { return count_sample(frequencies, runs); }
};

// From 1 in 2 runs down to 1 in 20,000.
Forest uneven() {
  std::vector<double> chances;
  for (int species = 0; species < 200; ++species) {
    chances.push_back(0.5 * std::pow(1e-4, species / 199.0));
  }
  return Forest(chances);
}

TEST(SpeciesEstimate, TheProbabilityOfSomethingNewIsNearTheTruth) {
  Rng rng(1);
  double estimated = 0;
  double truth = 0;
  constexpr int kForests = 40;
  for (int i = 0; i < kForests; ++i) {
    Forest forest = uneven();
    forest.walk(400, rng);
    estimated += estimate_species(forest.sample_counts())->next_run;
    truth += forest.next_run();
  }
  EXPECT_NEAR(estimated / truth, 1.0, 0.15)
      << estimated / kForests << " is estimated, the truth is " << truth / kForests;
}

TEST(SpeciesEstimate, ItsUpperBoundHoldsNearlyAlways) {
  Rng rng(2);
  int held = 0;
  constexpr int kForests = 100;
  for (int i = 0; i < kForests; ++i) {
    Forest forest = uneven();
    forest.walk(200, rng);
    held += forest.next_run() <= estimate_species(forest.sample_counts())->next_run_max ? 1 : 0;
  }
  EXPECT_GE(held, 90);
}

TEST(SpeciesEstimate, TheTotalIsALowerBoundThatBeatsWhatWasSeen) {
  Rng rng(3);
  for (int i = 0; i < 20; ++i) {
    Forest forest = uneven();
    forest.walk(400, rng);
    const SpeciesEstimate found = *estimate_species(forest.sample_counts());
    EXPECT_GT(found.total, static_cast<double>(found.seen));
    EXPECT_LT(found.total, 1.1 * static_cast<double>(forest.chances.size()));
  }
}

TEST(SpeciesEstimate, OfEvenSpeciesTheTotalIsNearTheTruth) {
  Rng rng(4);
  double total = 0;
  constexpr int kForests = 20;
  for (int i = 0; i < kForests; ++i) {
    Forest forest(std::vector<double>(300, 0.01));
    forest.walk(100, rng);  // of 300, some 190 are seen
    total += estimate_species(forest.sample_counts())->total;
  }
  EXPECT_NEAR(total / kForests, 300, 15);
}

TEST(SpeciesEstimate, WhenEverythingWasSeenOftenLittleIsLeft) {
  Rng rng(5);
  Forest forest(std::vector<double>(50, 0.5));
  forest.walk(1000, rng);
  const SpeciesEstimate found = *estimate_species(forest.sample_counts());
  EXPECT_EQ(found.seen, 50U);
  EXPECT_EQ(found.total, 50.0);
  EXPECT_EQ(found.next_run, 0.0);
  EXPECT_GT(found.next_run_max, 0.0) << "that nothing is left, no number of runs shows";
  EXPECT_LT(found.next_run_max, 0.004);
}

TEST(SpeciesEstimate, SpeciesThatOneRunShowsTogetherCountOnce) {
  const std::vector<FeatureFrequency> frequencies{{1, 7}, {1, 7}, {1, 9}, {2, 9}, {0, 0}, {5, 9}};
  EXPECT_EQ(count_sample(frequencies, 200),
            (SampleCounts{.runs = 200, .seen = 5, .once = 3, .twice = 1, .runs_alone = 2}));
  EXPECT_EQ(estimate_species(count_sample(frequencies, 200))->next_run, 0.01);
}

TEST(SpeciesEstimate, SaysNothingOfFewRunsOrOfNothing) {
  const std::vector<FeatureFrequency> frequencies{{1, 1}};
  EXPECT_FALSE(estimate_species(count_sample(frequencies, SpeciesEstimate::kRunsMin - 1)).has_value());
  EXPECT_TRUE(estimate_species(count_sample(frequencies, SpeciesEstimate::kRunsMin)).has_value());
  EXPECT_FALSE(estimate_species(count_sample({}, 1000)).has_value());
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
