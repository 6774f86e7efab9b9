// What is drawn for the operations of a run, and how they are picked.
#include "core/swarm/rule_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "chi_squared.h"
#include "core/base/error.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

std::size_t count_of(const std::vector<bool>& kept) { return static_cast<std::size_t>(std::ranges::count(kept, true)); }

TEST(OpWeights, EverySizeIsAsLikelyAsAnyOther) {
  Rng rng(1);
  std::vector<std::uint64_t> sizes(6);
  std::vector<std::uint64_t> on(6);
  for (int i = 0; i < 30'000; ++i) {
    const std::vector<bool> kept = draw_by_size(rng, 6);
    ++sizes[count_of(kept) - 1];
    for (std::size_t op = 0; op < kept.size(); ++op) {
      on[op] += kept[op] ? 1U : 0U;
    }
  }
  expect_fits(sizes, std::vector<double>(6, 1.0));
  expect_fits(on, std::vector<double>(6, 1.0));
}

TEST(OpWeights, EverySubsetOfASizeIsAsLikelyAsAnyOther) {
  Rng rng(2);
  std::vector<std::uint64_t> pairs(6);
  for (int i = 0; i < 30'000; ++i) {
    const std::vector<bool> kept = draw_by_size(rng, 4);
    if (count_of(kept) == 2) {
      std::size_t number = 0;
      for (std::size_t a = 0; a < 4; ++a) {
        for (std::size_t b = a + 1; b < 4; ++b, ++number) {
          pairs[number] += kept[a] && kept[b] ? 1U : 0U;
        }
      }
    }
  }
  expect_fits(pairs, std::vector<double>(6, 1.0));
}

TEST(OpWeights, NothingHasNoSubsetButItself) {
  Rng rng(3);
  EXPECT_TRUE(draw_by_size(rng, 0).empty());
  EXPECT_EQ(draw_by_size(rng, 1), std::vector<bool>{true});
  EXPECT_TRUE(draw_by_share(rng, 0).empty());
}

TEST(OpWeights, ASharedProbabilityLeavesOutAllOrNothingFarMoreOftenThanCoinsDo) {
  Rng rng(4);
  std::vector<std::uint64_t> sizes(11);
  for (int i = 0; i < 11'000; ++i) {
    ++sizes[count_of(draw_by_share(rng, 10))];
  }
  // A coin for each of ten would leave out all of them once in 1,024.
  EXPECT_GT(*std::ranges::min_element(sizes), 700U);
}

TEST(OpWeights, WhatIsAlwaysOnIsKeptBesideWhatIsDrawn) {
  Rng rng(5);
  const std::vector<Operation> operations{{}, {.always_on = true}, {}, {.always_on = true}};
  std::vector<std::uint64_t> sizes(2);
  for (int i = 0; i < 2000; ++i) {
    const std::vector<bool> kept = draw_kept(rng, operations);
    EXPECT_TRUE(kept[1]);
    EXPECT_TRUE(kept[3]);
    ++sizes[count_of(kept) - 3];
  }
  expect_fits(sizes, std::vector<double>{1.0, 1.0});
  EXPECT_EQ(draw_kept(rng, std::vector<Operation>{{.always_on = true}}), std::vector<bool>{true});
}

TEST(OpWeights, AWeightIsUniformUpToItsCapAndTimesItsBase) {
  Rng rng(6);
  const std::vector<Operation> operations{{}, {.cap = 5}, {.base = 7, .cap = 2}, {}};
  std::vector<std::uint64_t> free(100);
  std::vector<std::uint64_t> capped(5);
  std::vector<std::uint64_t> multiplied(2);
  for (int i = 0; i < 20'000; ++i) {
    const std::vector<std::uint32_t> weights = draw_weights(rng, operations, {true, true, true, false});
    ++free.at(weights[0] - 1);
    ++capped.at(weights[1] - 1);
    EXPECT_EQ(weights[2] % 7, 0U);
    ++multiplied.at((weights[2] / 7) - 1);
    EXPECT_EQ(weights[3], 0U);
  }
  expect_fits(free, std::vector<double>(100, 1.0));
  expect_fits(capped, std::vector<double>(5, 1.0));
  expect_fits(multiplied, std::vector<double>(2, 1.0));
}

TEST(RulePicker, PicksInProportionToTheWeights) {
  const std::vector<std::uint32_t> weights{1, 100, 37, 5, 62, 3};
  const RulePicker picker(weights);
  Rng rng(7);
  std::vector<std::uint64_t> counts(weights.size());
  for (int i = 0; i < 500'000; ++i) {
    ++counts[picker.pick(rng)];
  }
  expect_fits(counts, std::vector<double>(weights.begin(), weights.end()));
}

TEST(RulePicker, DividesItsRangeExactly) {
  const std::vector<std::uint32_t> weights{3, 0, 1, 9, 2};
  const RulePicker picker(weights);
  std::vector<std::uint64_t> counts(weights.size());
  constexpr int kRange = 5 * 15;
  for (int i = 0; i < kRange; ++i) {
    ++counts[picker.pick_at((i + 0.5) / kRange)];
  }
  EXPECT_EQ(counts, (std::vector<std::uint64_t>{15, 0, 5, 45, 10}));
}

TEST(RulePicker, StaysInsideForTheLargestUnit) {
  const RulePicker picker(std::vector<std::uint32_t>{0, 1});
  EXPECT_EQ(picker.pick_at(0.0), 1U);
  EXPECT_EQ(picker.pick_at(1.0 - 0x1.0p-53), 1U);
  EXPECT_EQ(picker.pick_at(1.0), 1U);
}

TEST(RulePicker, RefusesWhatItCannotPickFrom) {
  EXPECT_THROW(RulePicker(std::vector<std::uint32_t>{}), ConfigError);
  EXPECT_THROW(RulePicker(std::vector<std::uint32_t>{0, 0}), ConfigError);
  EXPECT_THROW(RulePicker(std::vector<std::uint32_t>(RulePicker::kOperationsMax + 1, 1)), ConfigError);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
