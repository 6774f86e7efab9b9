// What is decided, and refused, before a session begins.
#include "core/search/session_options.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr MachineShape kShape{.rules = 3, .initializers = 1, .faults = 2};

TEST(SessionOptions, TheClassicPolicyDecidesWhatIsLeftOpen) {
  const SessionOptions options = checked({.policy = SwarmPolicy::kClassic}, kShape);
  EXPECT_EQ(options.checkpoint_prob, 0.4);
  EXPECT_EQ(options.seed_mutation_prob, 0.0);
  EXPECT_EQ(options.rule_swarm, false);
  EXPECT_EQ(options.operations.size(), 3U);
}

TEST(SessionOptions, WhatIsGivenStays) {
  for (const SwarmPolicy policy : {SwarmPolicy::kClassic, SwarmPolicy::kAdaptive}) {
    const SessionOptions options =
        checked({.checkpoint_prob = 0.0, .seed_mutation_prob = 1.0, .rule_swarm = true, .policy = policy}, kShape);
    EXPECT_EQ(options.checkpoint_prob, 0.0);
    EXPECT_EQ(options.seed_mutation_prob, 1.0);
    EXPECT_EQ(options.rule_swarm, true);
  }
}

TEST(SessionOptions, TheAdaptivePolicyLeavesItOpen) {
  const SessionOptions options = checked(SessionOptions{}, kShape);
  EXPECT_FALSE(options.checkpoint_prob.has_value());
  EXPECT_FALSE(options.seed_mutation_prob.has_value());
  EXPECT_FALSE(options.rule_swarm.has_value());
}

TEST(SessionOptions, ValuesOutOfRangeAreRefused) {
  EXPECT_THROW(checked({.checkpoint_prob = 1.1}, kShape), ConfigError);
  EXPECT_THROW(checked({.fault_toggle_prob = -0.1}, kShape), ConfigError);
  EXPECT_THROW(checked({.seed_mutation_prob = std::nan("")}, kShape), ConfigError);
  EXPECT_THROW(checked({.steps_per_run = 0}, kShape), ConfigError);
  EXPECT_THROW(checked({.operations = {{}, {}}}, kShape), ConfigError);
}

TEST(SessionOptions, AMachineHasRulesAndNotTooManyOfThem) {
  EXPECT_EQ(checked(kShape).rules, 3U);
  EXPECT_THROW(checked(MachineShape{.rules = 0}), ConfigError);
  EXPECT_THROW(checked(MachineShape{.rules = MachineShape::kTargetsMax + 1}), ConfigError);
  EXPECT_THROW(checked(MachineShape{.rules = 1, .faults = MachineShape::kTargetsMax + 1}), ConfigError);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
