// How a session draws swarm configurations by the distributions of single runs, and weighs its rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "chi_squared.h"
#include "core/base/error.h"
#include "core/search/session.h"
#include "session_bench.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr MachineShape kWeighed{.rules = 4, .initializers = 0, .faults = 0};

// What a run proposes, by rule.
std::vector<std::uint64_t> rules_of(Bench& bench) {
  std::vector<std::uint64_t> counts(kWeighed.rules);
  const Tape tape = bench.run(0);
  for (const TapeStep& step : tape.steps()) {
    ++counts[step.target];
  }
  return counts;
}

TEST(Session, SizesKeepSomeRulesAndWeighThem) {
  Bench bench(kWeighed, {.checkpoint_prob = 0, .steps_per_run = 2000, .swarm = SwarmDistribution::kUniformSize});
  std::vector<std::uint64_t> sizes(kWeighed.rules);
  for (int i = 0; i < 300; ++i) {
    const std::vector<std::uint64_t> counts = rules_of(bench);
    const std::vector<std::uint32_t>& weights = bench.session.weights();
    EXPECT_TRUE(bench.session.draws_rules());
    ++sizes[bench.session.configuration().rule_count() - 1];
    for (std::size_t rule = 0; rule < kWeighed.rules; ++rule) {
      EXPECT_EQ(bench.session.configuration().rules[rule], weights[rule] > 0);
      EXPECT_TRUE(weights[rule] > 0 || counts[rule] == 0);
    }
  }
  expect_fits(sizes, std::vector<double>(kWeighed.rules, 1.0));
}

TEST(Session, RulesAreProposedByTheirWeight) {
  const std::vector<Operation> operations{{.base = 1}, {.base = 5}, {.base = 3}, {.base = 1}};
  Bench bench(kWeighed, {.checkpoint_prob = 0, .operations = operations});
  std::vector<std::uint64_t> counts(kWeighed.rules);
  for (int i = 0; i < 2000; ++i) {
    const std::vector<std::uint64_t> of_run = rules_of(bench);
    std::ranges::transform(counts, of_run, counts.begin(), std::plus<>{});
  }
  EXPECT_FALSE(bench.session.draws_rules());
  expect_fits(counts, std::vector<double>{1, 5, 3, 1});
}

TEST(Session, RejectingOffersEveryRuleOnceAndTheActiveOnesFirst) {
  for (const SessionOptions& options :
       {SessionOptions{.rule_swarm = true}, SessionOptions{.swarm = SwarmDistribution::kUniformSize}}) {
    Bench bench({.rules = 6, .initializers = 0, .faults = 0}, options);
    for (int i = 0; i < 500; ++i) {
      bench.session.begin_run();
      const SwarmConfiguration configuration = bench.session.configuration();
      const std::vector<std::uint32_t> offered = reject_all(bench.session);
      bench.session.end_run();
      ASSERT_EQ(offered.size(), 6U);
      EXPECT_EQ(std::set<std::uint32_t>(offered.begin(), offered.end()).size(), 6U);
      for (std::size_t at = 0; at < offered.size(); ++at) {
        EXPECT_EQ(configuration.rules[offered[at]], at < configuration.rule_count());
      }
    }
  }
}

TEST(Session, WhatIsAlwaysOnIsOnUnderEveryDistribution) {
  const std::vector<Operation> operations{{}, {.cap = 5, .always_on = true}, {}, {}};
  for (const SwarmDistribution distribution : {SwarmDistribution::kOff, SwarmDistribution::kCoinFlip,
                                               SwarmDistribution::kUniformSize, SwarmDistribution::kHypothesis}) {
    for (const bool rule_swarm : {false, true}) {
      Bench bench(kWeighed, {.rule_swarm = rule_swarm, .swarm = distribution, .operations = operations});
      for (int i = 0; i < 200; ++i) {
        bench.run();
        EXPECT_TRUE(bench.session.configuration().rules[1]);
        EXPECT_TRUE(distribution != SwarmDistribution::kUniformSize || bench.session.weights()[1] <= 5);
      }
    }
  }
}

TEST(Session, HypothesisDistributionLeavesOutRulesAndFaultsButNeverAllRules) {
  Bench bench({.rules = 3, .initializers = 0, .faults = 2}, {.swarm = SwarmDistribution::kHypothesis});
  std::set<std::size_t> rules;
  std::set<std::size_t> faults;
  for (int i = 0; i < 500; ++i) {
    bench.run();
    rules.insert(bench.session.configuration().rule_count());
    faults.insert(bench.session.configuration().fault_count());
  }
  EXPECT_EQ(rules, (std::set<std::size_t>{1, 2, 3}));
  EXPECT_EQ(faults, (std::set<std::size_t>{0, 1, 2}));
}

TEST(Session, WeightsAreOfTheRunAndNotOfWhatCameBefore) {
  Bench one(kWeighed, {.steps_per_run = 50, .swarm = SwarmDistribution::kUniformSize});
  Bench other(kWeighed, {.steps_per_run = 5, .swarm = SwarmDistribution::kUniformSize});
  for (int i = 0; i < 100; ++i) {
    one.run();
    other.run(0);
    EXPECT_EQ(one.session.weights(), other.session.weights());
  }
}

TEST(Session, RefusesOperationsThatAreNotOfItsRules) {
  const auto coverage = std::make_shared<CoverageMap>();
  const auto make = [&](std::vector<Operation> operations) {
    return Session(kWeighed, {.operations = std::move(operations)}, coverage).spec().run_id;
  };
  EXPECT_THROW(make({{}, {}}), ConfigError);
  EXPECT_THROW(make({{}, {}, {}, {.base = 0}}), ConfigError);
  EXPECT_THROW(make({{}, {}, {}, {.base = Operation::kBaseMax + 1}}), ConfigError);
  EXPECT_THROW(make({{}, {}, {}, {.cap = 0}}), ConfigError);
  EXPECT_THROW(make({{}, {}, {}, {.cap = 101}}), ConfigError);
  EXPECT_EQ(make({{}, {}, {}, {}}), 0U);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
