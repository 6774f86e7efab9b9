// The estimates against simulated species, of which the truth is known.
#include "core/discovery.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/rng.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

// Species that each run shows with a probability of its own, independent of one another.
struct Forest {
  std::vector<double> chances;
  std::vector<Sighting> sightings;
  std::uint32_t runs = 0;

  explicit Forest(std::vector<double> of_species) : chances(std::move(of_species)), sightings(chances.size()) {}

  void walk(std::uint32_t more, Rng& rng) {
    for (std::uint32_t i = 0; i < more; ++i) {
      ++runs;
      for (std::size_t species = 0; species < chances.size(); ++species) {
        if (rng.chance(chances[species])) {
          sightings[species].in_run(runs);
        }
      }
    }
  }

  // The probability that the next run shows a species which none has shown.
  [[nodiscard]] double next_run() const {
    double nothing = 1;
    for (std::size_t species = 0; species < chances.size(); ++species) {
      nothing *= sightings[species].runs == 0 ? 1 - chances[species] : 1;
    }
    return 1 - nothing;
  }

  [[nodiscard]] Abundance abundance() const { return abundance_of(sightings, runs); }
};

// From 1 in 2 runs down to 1 in 20,000.
Forest uneven() {
  std::vector<double> chances;
  for (int species = 0; species < 200; ++species) {
    chances.push_back(0.5 * std::pow(1e-4, species / 199.0));
  }
  return Forest(chances);
}

TEST(Discovery, TheProbabilityOfSomethingNewIsNearTheTruth) {
  Rng rng(1);
  double estimated = 0;
  double truth = 0;
  constexpr int kForests = 40;
  for (int i = 0; i < kForests; ++i) {
    Forest forest = uneven();
    forest.walk(400, rng);
    estimated += estimate_discovery(forest.abundance())->next_run;
    truth += forest.next_run();
  }
  EXPECT_NEAR(estimated / truth, 1.0, 0.15)
      << estimated / kForests << " is estimated, the truth is " << truth / kForests;
}

TEST(Discovery, ItsUpperBoundHoldsNearlyAlways) {
  Rng rng(2);
  int held = 0;
  constexpr int kForests = 100;
  for (int i = 0; i < kForests; ++i) {
    Forest forest = uneven();
    forest.walk(200, rng);
    held += forest.next_run() <= estimate_discovery(forest.abundance())->next_run_max ? 1 : 0;
  }
  EXPECT_GE(held, 90);
}

TEST(Discovery, TheTotalIsALowerBoundThatBeatsWhatWasSeen) {
  Rng rng(3);
  for (int i = 0; i < 20; ++i) {
    Forest forest = uneven();
    forest.walk(400, rng);
    const Discovery found = *estimate_discovery(forest.abundance());
    EXPECT_GT(found.total, static_cast<double>(found.seen));
    EXPECT_LT(found.total, 1.1 * static_cast<double>(forest.chances.size()));
  }
}

TEST(Discovery, OfEvenSpeciesTheTotalIsNearTheTruth) {
  Rng rng(4);
  double total = 0;
  constexpr int kForests = 20;
  for (int i = 0; i < kForests; ++i) {
    Forest forest(std::vector<double>(300, 0.01));
    forest.walk(100, rng);  // of 300, some 190 are seen
    total += estimate_discovery(forest.abundance())->total;
  }
  EXPECT_NEAR(total / kForests, 300, 15);
}

TEST(Discovery, WhenEverythingWasSeenOftenLittleIsLeft) {
  Rng rng(5);
  Forest forest(std::vector<double>(50, 0.5));
  forest.walk(1000, rng);
  const Discovery found = *estimate_discovery(forest.abundance());
  EXPECT_EQ(found.seen, 50U);
  EXPECT_EQ(found.total, 50.0);
  EXPECT_EQ(found.next_run, 0.0);
  EXPECT_GT(found.next_run_max, 0.0) << "that nothing is left, no number of runs shows";
  EXPECT_LT(found.next_run_max, 0.004);
}

TEST(Discovery, SpeciesThatOneRunShowsTogetherCountOnce) {
  const std::vector<Sighting> sightings{{1, 7}, {1, 7}, {1, 9}, {2, 9}, {0, 0}, {5, 9}};
  EXPECT_EQ(abundance_of(sightings, 200), (Abundance{.runs = 200, .seen = 5, .once = 3, .twice = 1, .runs_alone = 2}));
  EXPECT_EQ(estimate_discovery(abundance_of(sightings, 200))->next_run, 0.01);
}

TEST(Discovery, SaysNothingOfFewRunsOrOfNothing) {
  const std::vector<Sighting> sightings{{1, 1}};
  EXPECT_FALSE(estimate_discovery(abundance_of(sightings, Discovery::kRunsMin - 1)).has_value());
  EXPECT_TRUE(estimate_discovery(abundance_of(sightings, Discovery::kRunsMin)).has_value());
  EXPECT_FALSE(estimate_discovery(abundance_of({}, 1000)).has_value());
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
