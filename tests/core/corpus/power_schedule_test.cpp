// What a run does to energy, and picks in proportion to weights.
#include "core/corpus/power_schedule.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "chi_squared.h"
#include "core/base/check.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

TEST(PowerSchedule, TheLargestRewardIsNotCutOff) {
  EXPECT_DOUBLE_EQ(rewarded(0, std::numeric_limits<std::uint32_t>::max()), 2.0 * 4294967295.0);
}

TEST(PickWeighted, FitsTheWeights) {
  const std::array weights{1.0, 2.0, 0.5, 4.0, 0.01};
  std::vector<std::uint64_t> counts(weights.size());
  Rng rng(1);
  for (int i = 0; i < 200'000; ++i) {
    ++counts[pick_weighted(rng, weights)];
  }
  expect_fits(counts, weights);
}

TEST(PickWeighted, NeverReturnsAWeightOfZero) {
  const std::array weights{0.0, 1.0, 0.0, 1.0, 0.0};
  Rng rng(2);
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_EQ(pick_weighted(rng, weights) % 2, 1U);
  }
}

TEST(PickWeighted, SurvivesSumsThatRound) {
  // Thirds and tiny weights: the running sum need not reach the total exactly.
  std::vector<double> weights(1000, 1.0 / 3.0);
  weights.back() = 5e-324;
  Rng rng(3);
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_LT(pick_weighted(rng, weights), weights.size());
  }
}

TEST(PickWeighted, DrawsExactlyOnce) {
  Rng picked(4);
  Rng drawn(4);
  const std::array one{7.0};
  EXPECT_EQ(pick_weighted(picked, one), 0U);
  drawn.next();
  EXPECT_EQ(picked.state(), drawn.state());
}

TEST(PickWeighted, RefusesWeightsWithoutAFinitePositiveSum) {
  Rng rng(5);
  EXPECT_THROW(pick_weighted(rng, {}), CheckFailure);
  EXPECT_THROW(pick_weighted(rng, std::array{0.0, 0.0}), CheckFailure);
  EXPECT_THROW(pick_weighted(rng, std::array{1e308, 1e308}), CheckFailure);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
