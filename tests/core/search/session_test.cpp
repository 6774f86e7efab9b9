// What a session proposes, run after run: shares, order, starts, and what it learns.
#include "core/search/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "chi_squared.h"
#include "core/base/check.h"
#include "core/base/error.h"
#include "session_bench.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr MachineShape kPlain{.rules = 5, .initializers = 0, .faults = 0};
constexpr MachineShape kFaulty{.rules = 5, .initializers = 2, .faults = 3};
constexpr int kRuns = 20'000;

std::vector<Tape> first_tapes(std::uint64_t seed) {
  Bench bench(kFaulty, {.seed = seed, .rule_swarm = true, .pair_features = true});
  std::vector<Tape> tapes;
  for (int i = 0; i < 50; ++i) {
    bench.session.begin_run();
    while (bench.step()) {
      if (bench.session.tape().size() % 5 == 0) {
        bench.session.keep();
      }
    }
    bench.session.end_run();
    tapes.push_back(bench.session.tape());
  }
  return tapes;
}

TEST(Session, TheSameSeedGivesTheSameTapes) { EXPECT_EQ(first_tapes(1), first_tapes(1)); }

TEST(Session, OtherSeedsGiveOtherTapes) {
  const std::vector<Tape> one = first_tapes(1);
  const std::vector<Tape> two = first_tapes(2);
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i].size() > 3 && two[i].size() > 3) {
      EXPECT_NE(one[i].hash(), two[i].hash());
    }
  }
}

TEST(Session, TheFirstRunOfSeed42IsTheSameInEveryVersion) {
  // Without drawn values, so that only what the session decides is pinned.
  const Tape tape = Bench(kFaulty).run(0);
  EXPECT_EQ(tape.size(), 42U);
  EXPECT_EQ(tape.hash(), 18216351395205946165ULL);
}

TEST(Session, ARunDoesNotDependOnHowMuchEarlierRunsDrew) {
  Bench modest(kFaulty);
  Bench greedy(kFaulty);
  for (int i = 0; i < 20; ++i) {
    modest.run(0);
    greedy.run(100);
    EXPECT_EQ(modest.run(3), greedy.run(3));
  }
}

TEST(Session, RunLengthsAreUniform) {
  Bench bench(kPlain, {.steps_per_run = 20});
  std::vector<std::uint64_t> counts(20);
  for (int i = 0; i < kRuns; ++i) {
    const std::size_t steps = bench.run(0).size();
    ASSERT_GE(steps, 1U);
    ASSERT_LE(steps, 20U);
    EXPECT_EQ(steps, bench.session.spec().steps);
    ++counts[steps - 1];
  }
  expect_fits(counts, std::vector<double>(20, 1.0));
}

TEST(Session, RulesAreUniform) {
  Bench bench(kPlain);
  std::vector<std::uint64_t> counts(5);
  for (int i = 0; i < 2000; ++i) {
    const Tape tape = bench.run(0);
    for (const TapeStep& step : tape.steps()) {
      ASSERT_EQ(step.kind, StepKind::kRule);
      ++counts[step.target];
    }
  }
  expect_fits(counts, std::vector<double>(5, 1.0));
}

TEST(Session, FaultsToggleWithTheirShareAndUniformly) {
  constexpr double kShare = 0.2;
  Bench bench({.rules = 2, .initializers = 0, .faults = 4}, {.fault_toggle_prob = kShare});
  std::vector<std::uint64_t> faults(4);
  std::vector<std::uint64_t> kinds(2);
  for (int i = 0; i < 2000; ++i) {
    std::array<bool, 4> on{};
    const Tape tape = bench.run(0);
    for (const TapeStep& step : tape.steps()) {
      ++kinds[is_fault(step.kind) ? 0 : 1];
      if (is_fault(step.kind)) {
        ++faults[step.target];
        on.at(step.target) = !on.at(step.target);
        EXPECT_EQ(step.kind, on.at(step.target) ? StepKind::kFaultOn : StepKind::kFaultOff);
      }
    }
    EXPECT_TRUE(std::ranges::equal(bench.session.faults_on(), on));
  }
  expect_fits(kinds, std::vector<double>{kShare, 1 - kShare});
  expect_fits(faults, std::vector<double>(4, 1.0));
}

TEST(Session, InitializeRulesRunOnceInRandomOrderBeforeAnythingElse) {
  Bench bench({.rules = 2, .initializers = 3, .faults = 2}, {.fault_toggle_prob = 0.9});
  std::map<std::vector<std::uint32_t>, std::uint64_t> orders;
  for (int i = 0; i < 5000; ++i) {
    const Tape tape = bench.run(0);
    std::vector<std::uint32_t> order;
    for (std::size_t at = 0; at < tape.size(); ++at) {
      ASSERT_EQ(tape.step(at).kind == StepKind::kInitialize, at < 3);
      if (at < 3) {
        order.push_back(tape.step(at).target);
      }
    }
    if (order.size() == 3) {
      ++orders[order];
    }
  }
  std::vector<std::uint64_t> counts;
  for (const auto& [order, count] : orders) {
    EXPECT_EQ(std::set<std::uint32_t>(order.begin(), order.end()).size(), 3U);
    counts.push_back(count);
  }
  EXPECT_EQ(counts.size(), 6U);
  expect_fits(counts, std::vector<double>(6, 1.0));
}

TEST(Session, RejectingOffersEveryRuleOnceInRandomOrder) {
  Bench bench({.rules = 3, .initializers = 0, .faults = 0});
  std::map<std::vector<std::uint32_t>, std::uint64_t> orders;
  for (int i = 0; i < 3000; ++i) {
    bench.session.begin_run();
    bench.step();  // an earlier step must leave no trace in the order
    if (bench.session.spec().steps > 1) {
      ++orders[reject_all(bench.session)];
    }
    EXPECT_EQ(bench.session.tape().size(), 1U);
    bench.session.end_run();
  }
  std::vector<std::uint64_t> counts;
  for (const auto& [order, count] : orders) {
    EXPECT_EQ(std::set<std::uint32_t>(order.begin(), order.end()).size(), 3U);
    EXPECT_EQ(order.size(), 3U);
    counts.push_back(count);
  }
  EXPECT_EQ(counts.size(), 6U);
  expect_fits(counts, std::vector<double>(6, 1.0));
}

TEST(Session, ASwarmConfigurationIsRespected) {
  Bench bench(kFaulty, {.checkpoint_prob = 0, .fault_toggle_prob = 0.5, .rule_swarm = true});
  for (int i = 0; i < 500; ++i) {
    const Tape tape = bench.run(0);
    const SwarmConfiguration& configuration = bench.session.swarm().configuration(bench.session.spec().swarm);
    for (const TapeStep& step : tape.steps()) {
      EXPECT_TRUE(step.kind != StepKind::kRule || configuration.rules[step.target]);
      EXPECT_TRUE(!is_fault(step.kind) || configuration.faults[step.target]);
    }
  }
  EXPECT_EQ(bench.session.swarm().counts().total, 500U);
}

TEST(Session, AFaultSwarmDrawsFaultsAndNeverNone) {
  Bench bench({.rules = 1, .initializers = 0, .faults = 2},
              {.checkpoint_prob = 0, .fault_toggle_prob = 0.9, .swarm = SwarmDistribution::kCoinFlip});
  std::vector<std::uint64_t> counts(3);
  for (int i = 0; i < 5000; ++i) {
    const Tape tape = bench.run(0);
    std::size_t subset = 0;
    for (const TapeStep& step : tape.steps()) {
      subset |= is_fault(step.kind) ? std::size_t{1} << step.target : 0U;
    }
    if (tape.size() > 25) {
      ASSERT_GE(subset, 1U);
      ++counts[subset - 1];
    }
  }
  // A quarter each, and the empty quarter goes to a single fault.
  expect_fits(counts, std::vector<double>{0.375, 0.375, 0.25});
}

TEST(Session, ABranchIsThePrefixAndThenNewSteps) {
  Bench bench(kFaulty, {.checkpoint_prob = 1});
  bench.session.begin_run();
  while (bench.session.tape().size() < 6 && bench.step()) {
  }
  const Tape prefix = bench.session.tape();
  const std::vector<bool> faults_on = bench.session.faults_on();
  const std::uint64_t id = bench.session.keep().id;
  bench.finish();
  for (int i = 0; i < 100; ++i) {
    const RunSpec spec = bench.session.begin_run();
    EXPECT_EQ(spec.checkpoint, id);
    EXPECT_EQ(spec.prefix_steps, prefix.size());
    while (bench.session.tape().size() < prefix.size()) {
      ASSERT_TRUE(bench.step());
      EXPECT_TRUE(bench.session.replaying_prefix());
    }
    EXPECT_EQ(bench.session.tape(), prefix);
    EXPECT_EQ(bench.session.faults_on(), faults_on);
    EXPECT_EQ(bench.session.source().misaligned(), 0U);
    ASSERT_TRUE(bench.step());
    EXPECT_FALSE(bench.session.replaying_prefix());
    bench.finish();
    EXPECT_EQ(bench.session.tape().size(), prefix.size() + spec.steps);
  }
}

TEST(Session, OriginsStayUniqueWhenAStepOfThePrefixCannotRun) {
  Bench bench(kPlain, {.checkpoint_prob = 1});
  bench.session.begin_run();
  while (bench.session.tape().size() < 3 && bench.step()) {
  }
  bench.session.keep();
  bench.finish();
  bench.session.begin_run();
  bench.session.next();
  bench.session.reject();
  bench.finish();
  std::set<std::uint32_t> origins;
  for (const TapeStep& step : bench.session.tape().steps()) {
    EXPECT_TRUE(origins.insert(step.origin).second);
  }
}

TEST(Session, NothingIsKeptThatNoRunWouldStartFrom) {
  for (const SessionOptions& options : {SessionOptions{.max_checkpoints = 0}, SessionOptions{.checkpoint_prob = 0}}) {
    Bench bench(kPlain, options);
    EXPECT_EQ(bench.keep_one(), 0U);
    EXPECT_EQ(bench.session.checkpoints_saved(), 0U);
  }
}

TEST(Session, EnergyIsRewardedAndDecaysByRuns) {
  Bench bench(kPlain, {.checkpoint_prob = 1});
  const std::uint64_t id = bench.keep_one();
  EXPECT_DOUBLE_EQ(bench.session.corpus().find(id)->energy, 1.0);
  bench.run();
  EXPECT_DOUBLE_EQ(bench.session.corpus().find(id)->energy, 0.95);
  bench.session.begin_run();
  bench.mark(1);
  bench.step();
  bench.mark(2);
  bench.step();
  EXPECT_EQ(bench.session.edges_in_run(), 2U);
  bench.finish();
  EXPECT_DOUBLE_EQ(bench.session.corpus().find(id)->energy, 0.95 + (2 * 2.0));
  for (int i = 0; i < 200; ++i) {
    bench.run();
  }
  EXPECT_DOUBLE_EQ(bench.session.corpus().find(id)->energy, 0.01);
}

TEST(Session, AStepThatDidNotEndCountsForItsRun) {
  Bench bench(kPlain, {.checkpoint_prob = 1});
  const std::uint64_t id = bench.keep_one();
  bench.session.begin_run();
  bench.session.next();
  bench.mark(1);
  bench.session.end_run();
  EXPECT_EQ(bench.session.edges_in_run(), 1U);
  EXPECT_DOUBLE_EQ(bench.session.corpus().find(id)->energy, 3.0);
}

TEST(Session, WhatRanBetweenTwoRunsIsNoRunsMerit) {
  Bench bench(kPlain);
  bench.run();
  bench.mark(1);
  bench.run();
  EXPECT_EQ(bench.session.edges_in_run(), 0U);
  EXPECT_EQ(bench.coverage->edges_seen(), 1U);
}

TEST(Session, EdgesBucketsAndStateHashesAreNovelty) {
  Bench bench(kPlain, {.steps_per_run = 1'000'000});
  auto& edge = bench.coverage->add_edge(1);
  bench.session.begin_run();
  const auto news_after = [&](int hits, std::uint64_t state_hash) {
    bench.session.next();
    for (int i = 0; i < hits; ++i) {
      bench.coverage->hit(edge);
    }
    return bench.session.done(state_hash);
  };
  EXPECT_FALSE(news_after(0, 0).any());
  EXPECT_EQ(news_after(1, 0).edges, 1U);
  EXPECT_EQ(news_after(1, 0).edges, 0U);
  EXPECT_TRUE(news_after(2, 0).any());  // four hits: a bucket of their own
  EXPECT_FALSE(news_after(1, 0).any());
  EXPECT_EQ(news_after(0, 77).features, 1U);
  EXPECT_FALSE(news_after(0, 77).any());
  EXPECT_EQ(news_after(0, 78).features, 1U);
}

TEST(Session, AnImprovementIsNoveltyAndEnergyForWhatCameNearest) {
  Bench bench(kPlain, {.checkpoint_prob = 1.0});
  const auto energy = [&](std::uint64_t id) { return bench.session.corpus().find(id)->energy; };
  const auto keep_nearer = [&](std::uint32_t improved) {
    bench.session.begin_run();
    bench.session.next();
    while (bench.session.prefix_left() > 0) {
      bench.session.done();
      bench.session.next();
    }
    EXPECT_EQ(bench.session.done(0, improved).features, improved);
    const KeepResult kept = bench.session.keep();
    bench.session.end_run();
    return kept.id;
  };
  const std::uint64_t first = keep_nearer(2);
  EXPECT_DOUBLE_EQ(energy(first), kEnergyInitial + 2 * kEnergyReward);
  // The run started from the first one, which neither gains nor loses by what came nearer.
  const std::uint64_t second = keep_nearer(1);
  EXPECT_DOUBLE_EQ(energy(first), kEnergyInitial + 2 * kEnergyReward);
  bench.session.transfer_energy(first, second);
  EXPECT_DOUBLE_EQ(energy(first), kEnergyFloor);
  EXPECT_DOUBLE_EQ(energy(second), (2 * kEnergyInitial) + (3 * kEnergyReward) - kEnergyFloor);
}

TEST(Session, PairsOfStepsAreNoveltyWithoutCoverage) {
  constexpr MachineShape kTwo{.rules = 2, .initializers = 0, .faults = 0};
  Bench bench(kTwo, {.checkpoint_prob = 0, .pair_features = true});
  std::set<std::pair<int, int>> seen;
  for (int run = 0; run < 20; ++run) {
    bench.session.begin_run();
    int before = -1;
    for (NextStep next = bench.session.next(); next.kind != NextKind::kEnd; next = bench.session.next()) {
      const bool is_new = seen.emplace(before, static_cast<int>(next.target)).second;
      EXPECT_EQ(bench.session.done().features, is_new ? 1U : 0U);
      before = static_cast<int>(next.target);
    }
    bench.session.end_run();
  }
  EXPECT_EQ(seen.size(), 6U);
}

TEST(Session, ATapeNeverExceedsItsLimit) {
  Bench bench({.rules = 1, .initializers = 0, .faults = 0}, {.seed = 3, .checkpoint_prob = 1, .steps_per_run = 8000});
  std::size_t longest = 0;
  for (int i = 0; i < 20; ++i) {
    bench.run(0);
    longest = std::max(longest, bench.session.tape().size());
    bench.session.begin_run();
    while (bench.step(0)) {
      if (bench.session.tape().size() == Session::kTapeStepsMax - 1) {
        EXPECT_NE(bench.session.keep().id, 0U);
      }
    }
    if (bench.session.tape().size() == Session::kTapeStepsMax) {
      EXPECT_EQ(bench.session.keep().id, 0U);
    } else {
      bench.session.keep();
    }
    bench.session.end_run();
  }
  EXPECT_EQ(longest, Session::kTapeStepsMax);
}

// Of whatever kind it is; only the way to its checkpoint comes on top, so that what is deep is reached by several runs.
TEST(Session, ARunTakesAtMostItsSteps) {
  for (const std::uint32_t most : {1U, 5U, 50U}) {
    Bench bench({.rules = 2, .initializers = 0, .faults = 0}, {.seed = 3, .steps_per_run = most});
    std::size_t deepest = 0;
    for (int i = 0; i < 400; ++i) {
      const RunSpec spec = bench.session.begin_run();
      while (bench.step(0)) {
      }
      EXPECT_LE(bench.session.tape().size(), spec.prefix_steps + most);
      deepest = std::max(deepest, bench.session.tape().size());
      bench.session.keep();
      bench.session.end_run();
    }
    EXPECT_GT(deepest, most);
  }
}

TEST(Session, RefusesOptionsAndShapesOutOfRange) {
  const auto refuses = [](MachineShape shape, const SessionOptions& options, const std::string& message) {
    try {
      const Bench bench(shape, options);
      ADD_FAILURE() << "accepted: " << message;
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.what(), message);
    }
  };
  refuses(kPlain, {.checkpoint_prob = 7}, "checkpoint_prob is 7; it must be between 0 and 1");
  refuses(kPlain, {.checkpoint_prob = NAN}, "checkpoint_prob is nan; it must be between 0 and 1");
  refuses(kPlain, {.fault_toggle_prob = -0.5}, "fault_toggle_prob is -0.5; it must be between 0 and 1");
  refuses(kPlain, {.steps_per_run = 0}, "steps_per_run is 0; it must be at least 1");
  refuses({.rules = 0, .initializers = 1, .faults = 1}, {}, "the machine has no rules; it must have at least one");
  refuses({.rules = 65537, .initializers = 0, .faults = 0}, {},
          "the machine has 65537 rules; at most 65536 are possible");
  refuses({.rules = 1, .initializers = 65537, .faults = 0}, {},
          "the machine has 65537 initialize rules; at most 65536 are possible");
  refuses({.rules = 1, .initializers = 0, .faults = 65537}, {},
          "the machine has 65537 faults; at most 65536 are possible");
}

TEST(Session, AWrongOrderOfCallsBreaksACheck) {
  Bench bench(kPlain, {.steps_per_run = 1});
  Session& session = bench.session;
  EXPECT_THROW(session.next(), CheckFailure);
  EXPECT_THROW(session.end_run(), CheckFailure);
  EXPECT_THROW(session.keep(), CheckFailure);
  session.begin_run();
  EXPECT_THROW(session.begin_run(), CheckFailure);
  EXPECT_THROW(session.restored(), CheckFailure);
  EXPECT_THROW(session.reject(), CheckFailure);
  EXPECT_THROW(session.done(), CheckFailure);
  EXPECT_THROW(session.keep(), CheckFailure);
  session.next();
  EXPECT_THROW(session.next(), CheckFailure);
  EXPECT_THROW(session.keep(), CheckFailure);
  session.reject();
  EXPECT_THROW(session.reject(), CheckFailure);
  session.next();
  session.done();
  EXPECT_THROW(session.done(), CheckFailure);
  EXPECT_EQ(session.next().kind, NextKind::kEnd);
  EXPECT_EQ(session.next().kind, NextKind::kEnd);
  session.end_run();
}

TEST(Session, OnlyRulesCanBeRejected) {
  Bench bench({.rules = 1, .initializers = 1, .faults = 0});
  bench.session.begin_run();
  ASSERT_EQ(bench.session.next().kind, NextKind::kInitialize);
  EXPECT_THROW(bench.session.reject(), CheckFailure);
}

TEST(Session, NeedsACoverageMap) { EXPECT_THROW(Session(kPlain, {}, nullptr), CheckFailure); }

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
