// Tests that features tell orders apart, are the same for the same order, and stay few in long runs.
#include "core/schedule/interleaving.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

std::vector<std::uint64_t> features(const std::vector<std::uint64_t>& actors) {
  Interleaving interleaving;
  std::vector<std::uint64_t> steps(10, 0);
  for (const std::uint64_t actor : actors) {
    interleaving.step(actor, steps[actor]++);
  }
  return interleaving.features();
}

TEST(Interleaving, DependsOnTheOrderOfSteps) {
  EXPECT_EQ(features({1, 2, 1, 2}), features({1, 2, 1, 2}));
  EXPECT_NE(features({1, 2, 1, 2}), features({1, 1, 2, 2}));
}

TEST(Interleaving, WhatIsNewIsTakenOnce) {
  Interleaving interleaving;
  interleaving.step(1, 0);
  EXPECT_EQ(interleaving.take_new().size(), 3U);
  EXPECT_TRUE(interleaving.take_new().empty());
  interleaving.step(1, 1);
  interleaving.step(1, 0);
  ASSERT_EQ(interleaving.take_new().size(), 1U);
  EXPECT_EQ(interleaving.features().size(), 4U);
}

TEST(Interleaving, TellsHowFarSomeoneCame) {
  const auto near = features({1});
  const auto far = features({1, 1});
  ASSERT_EQ(far.size(), near.size() + 1);
  EXPECT_EQ(Interleaving::level_of(far.back()), FeatureLevel::kReach);
}

TEST(Interleaving, WhoComesNoFartherBringsAnOrderAtMost) {
  const auto known = features({1, 2});
  for (const std::uint64_t feature : features({2, 1})) {
    if (Interleaving::level_of(feature) == FeatureLevel::kReach) {
      EXPECT_NE(std::ranges::find(known, feature), known.end());
    }
  }
  EXPECT_NE(known, features({2, 1}));
}

TEST(Interleaving, HasEachFeatureOnce) {
  std::vector<std::uint64_t> actors;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    actors.push_back(1 + (i * i % 7));
  }
  const auto found = features(actors);
  EXPECT_EQ(std::set(found.begin(), found.end()).size(), found.size());
  EXPECT_GT(found.size(), 24U);
  EXPECT_LT(found.size(), 1000U);
}

TEST(Interleaving, WhatStruckIsAFeatureOfItsPlaceAndValue) {
  Interleaving interleaving;
  interleaving.struck(1, 0, 1);
  interleaving.struck(1, 0, 1);
  interleaving.struck(1, 0, 2);
  interleaving.struck(2, 0, 1);
  interleaving.struck(2, 1, 1);
  EXPECT_EQ(interleaving.features().size(), 4U);
}

TEST(Interleaving, ARunHasALimitOfFeatures) {
  Interleaving interleaving;
  for (std::uint64_t place = 0; place < 100'000; ++place) {
    interleaving.struck(place, 0, 1);
  }
  EXPECT_EQ(interleaving.features().size(), std::size_t{1} << 14U);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
