// Which rules and faults a run has, and how what it found changes the next draws.
#include "core/swarm/swarm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "chi_squared.h"
#include "core/base/check.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr int kDraws = 100'000;

std::size_t draw_and_report(Swarm& swarm, Rng& rng, std::uint32_t new_edges = 0) {
  const std::size_t index = swarm.draw(rng);
  swarm.report(index, new_edges);
  return index;
}

void warm_up(Swarm& swarm, Rng& rng) {
  for (std::uint64_t i = 0; i < Swarm::kWarmUpRuns; ++i) {
    draw_and_report(swarm, rng);
  }
}

TEST(SwarmConfiguration, CountsAndKeysDependOnTheSubsetAlone) {
  const SwarmConfiguration one{{true, false, true}, {false, true}};
  EXPECT_EQ(one.rule_count(), 2U);
  EXPECT_EQ(one.fault_count(), 1U);
  EXPECT_EQ(one.key(), (SwarmConfiguration{{true, false, true}, {false, true}}.key()));
  EXPECT_NE(one.key(), (SwarmConfiguration{{true, false, true}, {true, false}}.key()));
  EXPECT_NE(one.key(), (SwarmConfiguration{{true, false, true, false}, {true}}.key()));
}

TEST(SwarmConfiguration, KeysAreTheSameInEveryVersion) {
  EXPECT_EQ((SwarmConfiguration{{true, false, true}, {false, true}}.key()), 1241296729510722885ULL);
  EXPECT_EQ((SwarmConfiguration{std::vector<bool>(65, true), {}}.key()), 8568182271950363246ULL);
}

TEST(Swarm, TheFirstRunsFlipCoins) {
  Swarm swarm(4, 2);
  Rng rng(1);
  for (std::uint64_t i = 0; i < Swarm::kWarmUpRuns; ++i) {
    EXPECT_EQ(swarm.source(draw_and_report(swarm, rng)), SwarmSource::kWarmUp);
  }
  EXPECT_NE(swarm.source(draw_and_report(swarm, rng)), SwarmSource::kWarmUp);
}

// The inclusion of each of four rules and two faults in draws from one source.
struct Inclusion {
  std::array<double, 4> rules{};
  std::array<double, 2> faults{};
};

Inclusion measure_inclusion(Swarm& swarm, Rng& rng, SwarmSource source) {
  Inclusion share;
  double draws = 0;
  for (int i = 0; i < 2 * kDraws; ++i) {
    const std::size_t index = draw_and_report(swarm, rng);
    if (swarm.source(index) != source) {
      continue;
    }
    ++draws;
    const SwarmConfiguration& configuration = swarm.configuration(index);
    for (std::size_t rule = 0; rule < 4; ++rule) {
      share.rules[rule] += configuration.rules[rule] ? 1 : 0;
    }
    for (std::size_t fault = 0; fault < 2; ++fault) {
      share.faults[fault] += configuration.faults[fault] ? 1 : 0;
    }
  }
  for (double& rule : share.rules) {
    rule /= draws;
  }
  for (double& fault : share.faults) {
    fault /= draws;
  }
  return share;
}

TEST(Swarm, CoinFlipsIncludeHalf) {
  Swarm swarm(4, 2);
  Rng rng(2);
  warm_up(swarm, rng);
  const Inclusion share = measure_inclusion(swarm, rng, SwarmSource::kCoinFlip);
  // One flip in 16 leaves no rule; then one of four is put back.
  for (const double rule : share.rules) {
    EXPECT_NEAR(rule, 0.5 + (1.0 / 16 / 4), 0.01);
  }
  for (const double fault : share.faults) {
    EXPECT_NEAR(fault, 0.5, 0.01);
  }
}

TEST(Swarm, CoinFlipsAreIndependentAndKeepARule) {
  // NewCoverage swarms, so that all draws are warm-up flips of two rules and one fault: 8 subsets, 2 of them without a
  // rule.
  std::vector<std::uint64_t> counts(6);
  Rng rng(3);
  for (int i = 0; i < kDraws / static_cast<int>(Swarm::kWarmUpRuns); ++i) {
    Swarm swarm(2, 1);
    for (std::uint64_t run = 0; run < Swarm::kWarmUpRuns; ++run) {
      const SwarmConfiguration& drawn = swarm.configuration(draw_and_report(swarm, rng));
      ASSERT_GE(drawn.rule_count(), 1U);
      const std::size_t rules = (drawn.rules[0] ? 1U : 0U) + (drawn.rules[1] ? 2U : 0U);
      ++counts[(2 * (rules - 1)) + (drawn.faults[0] ? 1U : 0U)];
    }
  }
  expect_fits(counts, std::vector<double>{3, 3, 3, 3, 2, 2});
}

TEST(Swarm, DirectedDrawsLeanToTheRulesNearGaps) {
  Swarm swarm(4, 2);
  swarm.set_directed({true, false, false, true});
  Rng rng(4);
  warm_up(swarm, rng);
  const Inclusion share = measure_inclusion(swarm, rng, SwarmSource::kDirected);
  const double none = 0.2 * 0.7 * 0.7 * 0.2;
  EXPECT_NEAR(share.rules[0], 0.8 + (none / 4), 0.01);
  EXPECT_NEAR(share.rules[1], 0.3 + (none / 4), 0.01);
  EXPECT_NEAR(share.rules[2], 0.3 + (none / 4), 0.01);
  EXPECT_NEAR(share.rules[3], 0.8 + (none / 4), 0.01);
  EXPECT_NEAR(share.faults[0], 0.5, 0.01);
  EXPECT_NEAR(share.faults[1], 0.5, 0.01);
}

TEST(Swarm, FullDrawsHaveEverything) {
  Swarm swarm(4, 2);
  Rng rng(5);
  warm_up(swarm, rng);
  const Inclusion share = measure_inclusion(swarm, rng, SwarmSource::kFull);
  EXPECT_EQ(share.rules, (std::array{1.0, 1.0, 1.0, 1.0}));
  EXPECT_EQ(share.faults, (std::array{1.0, 1.0}));
}

std::vector<std::uint64_t> sources_after_warm_up(Swarm& swarm) {
  Rng rng(6);
  for (int i = 0; i < kDraws + static_cast<int>(Swarm::kWarmUpRuns); ++i) {
    draw_and_report(swarm, rng);
  }
  const auto draws = swarm.counts().draws;
  EXPECT_EQ(draws[static_cast<std::size_t>(SwarmSource::kWarmUp)], Swarm::kWarmUpRuns);
  return {draws.begin() + 1, draws.end()};
}

TEST(Swarm, TheSplitAfterTheWarmUp) {
  Swarm swarm(6, 3);
  swarm.set_directed({true, false, false, false, false, false});
  expect_fits(sources_after_warm_up(swarm), std::vector<double>{10, 15, 10, 65});
}

TEST(Swarm, WithoutGapsTheDirectedShareFlipsCoins) {
  for (const auto& flags : {std::vector<bool>{}, std::vector<bool>(6, false)}) {
    Swarm swarm(6, 3);
    swarm.set_directed(std::vector<bool>(6, true));
    swarm.set_directed(flags);
    auto counts = sources_after_warm_up(swarm);
    EXPECT_EQ(counts[2], 0U);
    counts.erase(counts.begin() + 2);
    expect_fits(counts, std::vector<double>{10, 25, 65});
  }
}

TEST(Swarm, NewEdgesDoubleAndBarrenRunsDecay) {
  Swarm swarm(1, 0);  // one rule: all draws are the same configuration
  Rng rng(7);
  const std::size_t only = draw_and_report(swarm, rng);
  EXPECT_DOUBLE_EQ(swarm.energy(only), 0.9);
  draw_and_report(swarm, rng);
  EXPECT_DOUBLE_EQ(swarm.energy(only), 0.81);
  draw_and_report(swarm, rng, 5);
  EXPECT_DOUBLE_EQ(swarm.energy(only), 1.62);
  draw_and_report(swarm, rng);
  EXPECT_DOUBLE_EQ(swarm.energy(only), 1.62 * 0.98);
}

TEST(Swarm, EnergyStaysBetweenFloorAndCap) {
  Swarm swarm(1, 0);
  Rng rng(8);
  for (int i = 0; i < 100; ++i) {
    draw_and_report(swarm, rng);
  }
  EXPECT_DOUBLE_EQ(swarm.energy(0), Swarm::kEnergyMin);
  for (int i = 0; i < 100; ++i) {
    draw_and_report(swarm, rng, 1);
  }
  EXPECT_DOUBLE_EQ(swarm.energy(0), Swarm::kEnergyMax);
  for (int i = 0; i < 1000; ++i) {
    draw_and_report(swarm, rng);
  }
  EXPECT_DOUBLE_EQ(swarm.energy(0), Swarm::kEnergyMin);
}

TEST(Swarm, EnergyDrawsAreInProportion) {
  // Copies of one warmed-up swarm, so that each measured draw meets the same energies.
  Swarm start(2, 1);
  Rng rng(9);
  while (start.counts().total < Swarm::kWarmUpRuns || start.counts().configurations < 6) {
    const std::size_t index = start.draw(rng);
    start.report(index, index == 2 ? 1 : 0);
  }
  std::vector<std::uint64_t> counts(start.counts().configurations);
  for (int i = 0; i < kDraws; ++i) {
    Swarm swarm = start;
    const std::size_t index = swarm.draw(rng);
    if (swarm.source(index) == SwarmSource::kEnergy) {
      ++counts[index];
    }
  }
  std::vector<double> energies(counts.size());
  for (std::size_t i = 0; i < energies.size(); ++i) {
    energies[i] = start.energy(i);
  }
  EXPECT_GT(*std::ranges::max_element(energies), 2 * *std::ranges::min_element(energies));
  expect_fits(counts, energies);
}

TEST(Swarm, ARewardedConfigurationIsDrawnMore) {
  // The same warm-up twice; in one the first configuration finds new edges. Then its share of the next draw.
  const auto share_of_first = [](std::uint32_t new_edges) {
    Swarm start(6, 3);
    Rng rng(10);
    for (std::uint64_t i = 0; i < Swarm::kWarmUpRuns; ++i) {
      const std::size_t index = start.draw(rng);
      start.report(index, index == 0 ? new_edges : 0);
    }
    int hits = 0;
    constexpr int kCopies = 25'000;
    for (int i = 0; i < kCopies; ++i) {
      Swarm swarm = start;
      hits += swarm.draw(rng) == 0 ? 1 : 0;
    }
    return static_cast<double>(hits) / kCopies;
  };
  // 20 configurations at 0.9, one of them raised to 2.0.
  EXPECT_NEAR(share_of_first(0), 0.65 * 0.9 / 18.0, 0.005);
  EXPECT_NEAR(share_of_first(3), 0.65 * 2.0 / 19.1, 0.005);
}

TEST(Swarm, EqualConfigurationsAreOneEntry) {
  Swarm swarm(2, 1);
  Rng rng(12);
  for (int i = 0; i < 1000; ++i) {
    draw_and_report(swarm, rng);
  }
  EXPECT_EQ(swarm.counts().configurations, 6U);
}

TEST(Swarm, TheHistoryIsBoundedAndKeepsWhatPays) {
  Swarm swarm(40, 20);
  Rng rng(13);
  const std::size_t best = draw_and_report(swarm, rng, 1);
  const SwarmConfiguration configuration = swarm.configuration(best);
  for (int i = 0; i < 10'000; ++i) {
    const std::size_t index = swarm.draw(rng);
    swarm.report(index, index == best ? 1 : 0);
  }
  EXPECT_EQ(swarm.counts().configurations, Swarm::kHistoryMax);
  EXPECT_EQ(swarm.configuration(best), configuration);
  EXPECT_EQ(swarm.counts().productive, 1U);
}

TEST(Swarm, ADrawThatWaitsForItsReportKeepsItsConfiguration) {
  Swarm swarm(40, 20);
  Rng rng(14);
  const std::size_t waiting = swarm.draw(rng);
  const SwarmConfiguration configuration = swarm.configuration(waiting);
  for (int i = 0; i < 20'000; ++i) {
    draw_and_report(swarm, rng);
  }
  EXPECT_EQ(swarm.configuration(waiting), configuration);
  swarm.report(waiting, 0);
}

TEST(Swarm, ReportsMustMatchDraws) {
  Swarm swarm(3, 0);
  Rng rng(15);
  EXPECT_THROW(swarm.report(0, 1), CheckFailure);
  const std::size_t index = draw_and_report(swarm, rng);
  EXPECT_THROW(swarm.report(index, 1), CheckFailure);
  EXPECT_THROW((void)swarm.configuration(99), CheckFailure);
}

TEST(Swarm, RefusesMachinesAndFlagsThatDoNotFit) {
  EXPECT_THROW(Swarm(0, 3), CheckFailure);
  Swarm swarm(3, 0);
  EXPECT_THROW(swarm.set_directed({true}), CheckFailure);
}

TEST(Swarm, SameSeedSameConfigurations) {
  Swarm swarm(8, 4);
  Rng rng(42);
  std::vector<std::size_t> drawn(40);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    drawn[i] = draw_and_report(swarm, rng, i % 7 == 0 ? 1 : 0);
  }
  drawn.erase(drawn.begin(), drawn.begin() + 20);
  EXPECT_EQ(drawn, (std::vector<std::size_t>{1, 20, 11, 21, 3, 20, 13, 7, 20, 1, 22, 16, 20, 2, 8, 6, 23, 0, 12, 24}));
  EXPECT_EQ(swarm.configuration(drawn.back()).key(), 2673574317344728533ULL);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
