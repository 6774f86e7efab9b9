// What is new, what that is worth, and how common it becomes.
#include "core/coverage/features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/base/error.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

Features started(FeatureMask on = kAllFeatures) {
  Features features(on);
  features.begin_run(1);
  return features;
}

std::uint32_t count_of(Features& features, FeatureKind kind, std::uint64_t key) {
  features.begin_step();
  features.see(kind, key);
  return features.take_step().count;
}

TEST(Features, EachIsNewOnce) {
  Features features = started();
  EXPECT_EQ(count_of(features, FeatureKind::kEvent, 1), 1U);
  EXPECT_EQ(count_of(features, FeatureKind::kEvent, 1), 0U);
  EXPECT_EQ(count_of(features, FeatureKind::kStateHash, 1), 1U) << "another kind has keys of its own";
  EXPECT_EQ(features.seen(), 2U);
}

TEST(Features, AKindThatIsOffIsNeverNew) {
  Features features = started(kAllFeatures & ~mask_of(FeatureKind::kEvent));
  EXPECT_EQ(count_of(features, FeatureKind::kEvent, 1), 0U);
  EXPECT_FALSE(features.has(FeatureKind::kEvent));
  EXPECT_EQ(features.seen(), 0U);
}

TEST(Features, RunsAreCountedAndNotSights) {
  Features features(kAllFeatures);
  for (std::uint64_t run = 1; run <= 6; ++run) {
    features.begin_run(run);
    features.see(FeatureKind::kEvent, run % 2);
    features.see(FeatureKind::kEvent, run % 2);
    features.see(FeatureKind::kEvent, 100 + run);
  }
  EXPECT_EQ(features.runs_of({FeatureKind::kEvent, 0}), 3U);
  EXPECT_EQ(features.runs_of({FeatureKind::kEvent, 2}), 0U);
  EXPECT_EQ(features.sample_counts(6), (SampleCounts{.runs = 6, .seen = 8, .once = 6, .twice = 0, .runs_alone = 6}));
}

TEST(Features, WhatAStepShowsIsToldByName) {
  Features features = started();
  features.show_edge(5);
  features.see(FeatureKind::kEvent, 7);
  static_cast<void>(features.take_step());
  ASSERT_EQ(features.shown().size(), 2U);
  EXPECT_EQ(features.shown()[0], (Feature{FeatureKind::kEdge, 5}));
  EXPECT_EQ(features.shown()[1], (Feature{FeatureKind::kEvent, 7}));
  for (std::uint64_t key = 0; key < 100; ++key) {
    features.show_edge(key);
  }
  EXPECT_EQ(features.shown().size(), Features::kShownMax);
  features.begin_step();
  EXPECT_TRUE(features.shown().empty());
}

TEST(Features, AKindThatAlwaysBringsSomethingNewHasLessWeight) {
  Features features(kAllFeatures);
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  for (std::uint64_t run = 1; run <= 300; ++run) {
    features.begin_run(run);
    for (std::uint64_t step = 0; step < 200; ++step) {
      features.begin_step();
      features.see(FeatureKind::kStateHash, (run << 32U) | step);
      last = features.take_step().weight;
      first = first == 0 ? last : first;
    }
  }
  EXPECT_EQ(first, Features::kWeightOfEdge);
  EXPECT_EQ(last, 0U);
  // An edge is worth an edge all the same.
  features.add_new(FeatureKind::kEdge, 2);
  const NewFeatures novelty = features.take_step();
  EXPECT_EQ(novelty.weight, 2 * Features::kWeightOfEdge);
  EXPECT_EQ(novelty.count, 0U) << "the coverage map counts edges";
}

TEST(Features, BundleSizesCountByPowersOfTwo) {
  Features features = started(mask_of(FeatureKind::kBundleSize));
  std::uint32_t novelty = 0;
  for (std::size_t size = 0; size < 1000; ++size) {
    features.bundle_size(3, size);
  }
  novelty = features.take_step().count;
  EXPECT_EQ(novelty, 11U);  // none, and 1 to 512
  features.bundle_size(4, 1);
  EXPECT_EQ(features.take_step().count, 1U);
  features.bundle_size(UINT32_MAX, 1);
  EXPECT_EQ(features.take_step().count, 1U);
}

TEST(Features, SizesOfTwoBundlesCountTogether) {
  Features features = started(mask_of(FeatureKind::kBundlePair));
  features.bundle_size(0, 4);
  EXPECT_EQ(features.take_step().count, 0U) << "of the other nothing is known in this run";
  features.bundle_size(1, 4);
  EXPECT_EQ(features.take_step().count, 1U);
  features.bundle_size(1, 5);
  EXPECT_EQ(features.take_step().count, 0U);
  features.bundle_size(0, 8);
  EXPECT_EQ(features.take_step().count, 1U);
  features.begin_run(2);
  features.bundle_size(1, 4);
  features.bundle_size(0, 8);
  EXPECT_EQ(features.take_step().count, 0U);
}

TEST(Features, RungsLeadUpThroughZeroAndEnd) {
  constexpr double kLeast = std::numeric_limits<double>::denorm_min();
  constexpr double kMost = std::numeric_limits<double>::max();
  std::int64_t before = rung_of(-kMost) - 1;
  for (const double value : {-kMost, -1001.0, -1000.0, -1.0, -kLeast, 0.0, kLeast, 1.0, 2.0, 1023.0, 1024.0, kMost}) {
    EXPECT_GT(rung_of(value), before) << value;
    before = rung_of(value);
  }
  EXPECT_EQ(rung_of(-0.0), 0);
  EXPECT_EQ(rung_of(1e6), rung_of(1e6 + 1));
  EXPECT_EQ(rung_of(2.0) - rung_of(1.0), 1024);
  EXPECT_EQ(rung_of(std::numeric_limits<double>::infinity()), rung_of(kMost));
}

TEST(Features, ATargetCountsWhenItIsHigherByARung) {
  Features features = started();
  EXPECT_TRUE(features.target(1, -100));
  EXPECT_TRUE(features.target(1, -50));
  EXPECT_FALSE(features.target(1, -60));
  EXPECT_TRUE(features.target(1, 0));
  EXPECT_TRUE(features.target(1, 1e-300));
  EXPECT_TRUE(features.target(1, 1000));
  EXPECT_TRUE(features.target(1, 1001));
  EXPECT_TRUE(features.target(1, 1e6));
  EXPECT_FALSE(features.target(1, 1e6 + 1));
  EXPECT_TRUE(features.target(1, 1.01e6));
  EXPECT_TRUE(features.target(2, -1e300));
  EXPECT_FALSE(features.target(2, std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(features.target(2, std::nan("")));
}

TEST(Features, CommonnessGrowsWithTheSquareRootOfTheRuns) {
  EXPECT_EQ(frequency_class(0), 0U);
  EXPECT_EQ(frequency_class(1), 0U);
  EXPECT_EQ(frequency_class(2), 1U);
  EXPECT_EQ(frequency_class(8), 2U);
  EXPECT_EQ(frequency_class(32), 3U);
  EXPECT_EQ(frequency_class(UINT64_MAX), kFrequencyClassMax);
}

TEST(Features, GoOnFromWhatWasSaved) {
  Features features = started();
  features.see(FeatureKind::kEvent, 9);
  features.see(FeatureKind::kStateHash, 3);
  features.target(1, 5);
  const FeaturesState state = features.save();
  Features other(kAllFeatures);
  other.restore(state);
  EXPECT_EQ(other.save(), state);
  other.begin_run(2);
  EXPECT_EQ(count_of(other, FeatureKind::kEvent, 9), 0U);
  EXPECT_EQ(other.runs_of({FeatureKind::kEvent, 9}), 2U);
  EXPECT_FALSE(other.target(1, 5));
}

TEST(Features, KindsHaveNames) {
  EXPECT_EQ(feature_named("edge"), FeatureKind::kEdge);
  EXPECT_EQ(feature_named("event"), FeatureKind::kEvent);
  EXPECT_EQ(feature_named("decision"), FeatureKind::kDecision);
  EXPECT_THROW(feature_named("luck"), ConfigError);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
