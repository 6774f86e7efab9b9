// What kind of run comes next, and that each of its sides is learnt by itself.
#include "core/swarm/run_schedule.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr int kDraws = 4000;

double share_of_start(const RunSchedule& schedule, RunStart start) {
  Rng rng(5);
  int count = 0;
  for (int i = 0; i < kDraws; ++i) {
    count += schedule.draw(rng, {}).start == start ? 1 : 0;
  }
  return static_cast<double>(count) / kDraws;
}

TEST(RunSchedule, EveryKindIsDrawn) {
  const RunSchedule schedule;
  Rng rng(1);
  RunKinds seen{.starts = 0, .swarms = 0};
  for (int i = 0; i < kDraws; ++i) {
    const RunKind kind = schedule.draw(rng, {});
    seen.starts |= bit(kind.start);
    seen.swarms |= bit(kind.swarm);
  }
  EXPECT_EQ(seen.starts, RunKinds{}.starts);
  EXPECT_EQ(seen.swarms, RunKinds{}.swarms);
}

TEST(RunSchedule, OnlyWhatIsAllowedIsDrawn) {
  const RunSchedule schedule;
  Rng rng(1);
  const RunKinds allowed{.starts = bit(RunStart::kEdit) | bit(RunStart::kFresh), .swarms = bit(RunSwarm::kUniformSize)};
  for (int i = 0; i < 200; ++i) {
    const RunKind kind = schedule.draw(rng, allowed);
    EXPECT_TRUE(kind.start == RunStart::kEdit || kind.start == RunStart::kFresh);
    EXPECT_EQ(kind.swarm, RunSwarm::kUniformSize);
  }
}

TEST(RunSchedule, RunsAreSimplerOnlyWhereThatIsAllowed) {
  const RunSchedule schedule;
  Rng rng(1);
  std::uint32_t seen = 0;
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(schedule.draw(rng, {}).simplicity, RunSimplicity::kNone);
    seen |= bit(schedule.draw(rng, {.simplicities = 7}).simplicity);
  }
  EXPECT_EQ(seen, 7U);
}

TEST(RunSchedule, KindsThatPayComeMoreOften) {
  RunSchedule schedule;
  const double before = share_of_start(schedule, RunStart::kSplice);
  for (int i = 0; i < 300; ++i) {
    schedule.report({.start = RunStart::kSplice}, 2, 100);
    schedule.report({.start = RunStart::kFresh}, 0, 100);
    schedule.report({.start = RunStart::kBranch}, 0, 100);
  }
  EXPECT_GT(share_of_start(schedule, RunStart::kSplice), 2 * before);
}

TEST(RunSchedule, CountsRunsByKind) {
  RunSchedule schedule;
  schedule.report({.start = RunStart::kRepeat, .swarm = RunSwarm::kEnergy}, 0, 1);
  schedule.report({.start = RunStart::kRepeat}, 0, 1);
  EXPECT_EQ(schedule.counts().starts.at(static_cast<std::size_t>(RunStart::kRepeat)), 2U);
  EXPECT_EQ(schedule.counts().swarms.at(static_cast<std::size_t>(RunSwarm::kEnergy)), 1U);
  EXPECT_EQ(schedule.counts().swarms.at(static_cast<std::size_t>(RunSwarm::kFull)), 1U);
}

TEST(RunSchedule, GoesOnWhereItWasSaved) {
  RunSchedule schedule;
  for (int i = 0; i < 50; ++i) {
    schedule.report({.start = RunStart::kEdit, .swarm = RunSwarm::kCoinFlip}, 3, 70);
  }
  RunSchedule other;
  other.restore(schedule.save());
  EXPECT_EQ(other.save(), schedule.save());
  Rng one(9);
  Rng two(9);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(other.draw(one, {}), schedule.draw(two, {}));
  }
}

TEST(RunSchedule, ConfigurationsAndDistributionsAreKinds) {
  EXPECT_EQ(kind_of(SwarmSource::kWarmUp), RunSwarm::kCoinFlip);
  EXPECT_EQ(kind_of(SwarmSource::kFull), RunSwarm::kFull);
  EXPECT_EQ(kind_of(SwarmSource::kDirected), RunSwarm::kDirected);
  EXPECT_EQ(kind_of(SwarmSource::kEnergy), RunSwarm::kEnergy);
  EXPECT_EQ(kind_of(SwarmDistribution::kOff), RunSwarm::kFull);
  EXPECT_EQ(kind_of(SwarmDistribution::kCoinFlip), RunSwarm::kCoinFlip);
  EXPECT_EQ(kind_of(SwarmDistribution::kUniformSize), RunSwarm::kUniformSize);
  EXPECT_EQ(kind_of(SwarmDistribution::kHypothesis), RunSwarm::kUniformShare);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
