// What a session takes for news, and how the energy of its checkpoints follows from it.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/schedule/interleaving.h"
#include "session_bench.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr MachineShape kOne{.rules = 1, .initializers = 0, .faults = 0};

double energy_of(const Bench& bench, std::uint64_t id) { return bench.session.corpus().find(id)->energy; }

TEST(Learning, FeaturesOfAStepAreItsNovelty) {
  Bench bench(kOne, {.steps_per_run = 1'000'000});
  bench.session.begin_run();
  bench.session.next();
  bench.session.feature(FeatureKind::kEvent, 1);
  bench.session.bundle_size(0, 4);
  EXPECT_EQ(bench.session.done().features, 2U);
  bench.session.next();
  bench.session.feature(FeatureKind::kEvent, 1);
  bench.session.bundle_size(0, 5);
  EXPECT_FALSE(bench.session.done().any());
}

TEST(Learning, TheOrderOfTasksIsNews) {
  Bench bench(kOne, {.steps_per_run = 1'000'000});
  Interleaving interleaving;
  interleaving.step(1, 0);
  interleaving.struck(7, 0, 1);
  bench.session.begin_run();
  bench.session.next();
  bench.session.interleaved(interleaving.take_new());
  EXPECT_EQ(bench.session.done().features, 4U);
  bench.session.next();
  bench.session.interleaved(interleaving.features());
  EXPECT_FALSE(bench.session.done().any());
}

TEST(Learning, AStepThatWasRejectedHasNoNovelty) {
  Bench bench(kOne, {.steps_per_run = 1'000'000});
  bench.session.begin_run();
  bench.session.next();
  bench.session.feature(FeatureKind::kEvent, 1);
  bench.session.reject();
  bench.session.next();
  EXPECT_EQ(bench.session.tape().size(), 0U) << "no rule is left";
}

TEST(Learning, OfThePrefixNothingCounts) {
  Bench bench(kOne, {.checkpoint_prob = 1});
  bench.keep_one();
  bench.session.begin_run();
  bench.session.next();
  ASSERT_TRUE(bench.session.replaying_prefix());
  bench.session.feature(FeatureKind::kEvent, 1);
  bench.session.bundle_size(0, 1);
  EXPECT_FALSE(bench.session.done(5).any());
  bench.session.next();
  bench.session.feature(FeatureKind::kEvent, 1);
  EXPECT_EQ(bench.session.done(5).features, 2U);
}

TEST(Learning, WhatTheTeardownShowsIsOfTheLastState) {
  Bench bench(kOne);
  bench.session.begin_run();
  while (bench.step()) {
    if (bench.session.tape().size() == 1) {
      break;
    }
  }
  bench.session.feature(FeatureKind::kEvent, 1);
  EXPECT_EQ(bench.session.finished(2).features, 3U);
  const KeepResult kept = bench.session.keep();
  EXPECT_DOUBLE_EQ(energy_of(bench, kept.id), kEnergyInitial + (2 * kEnergyReward));
  bench.session.end_run();
  EXPECT_THROW(bench.session.finished(), CheckFailure);
}

TEST(Learning, StateHashesAloneKeepUpEnergy) {
  Bench bench(kOne, {.checkpoint_prob = 1});
  const std::uint64_t id = bench.keep_one();
  for (std::uint64_t run = 1; run <= 20; ++run) {
    bench.session.begin_run();
    bench.step();
    bench.session.next();
    bench.session.done(run);
    bench.finish();
  }
  EXPECT_GE(energy_of(bench, id), kEnergyInitial);
}

TEST(Learning, LittleNoveltyDoesNotMakeUpForARun) {
  Bench bench(kOne, {.checkpoint_prob = 1});
  const std::uint64_t id = bench.keep_one();
  bench.session.begin_run();
  bench.step();
  bench.session.next();
  bench.session.bundle_size(0, 1);
  bench.session.done();
  bench.finish();
  EXPECT_DOUBLE_EQ(energy_of(bench, id), (kEnergyInitial * kEnergyDecay) + (kEnergyReward / 2));
}

TEST(Learning, WhatBecomesCommonLosesItsShare) {
  Bench bench(kOne, {.checkpoint_prob = 1});
  bench.session.begin_run();
  bench.session.next();
  bench.mark(1);
  bench.session.done();
  const std::uint64_t id = bench.session.keep().id;
  bench.finish();
  ASSERT_EQ(bench.session.corpus().find(id)->shows.size(), 1U);
  EXPECT_EQ(bench.session.corpus().find(id)->frequency_class, 0U);
  for (int run = 0; run < 40; ++run) {
    bench.session.begin_run();
    bench.mark(1);
    bench.finish();
  }
  EXPECT_EQ(bench.session.corpus().find(id)->frequency_class, frequency_class(41));
}

TEST(Learning, OnlyTheStateWithTheLargestNumberIsKeptForIt) {
  Bench bench(kOne, {.checkpoint_prob = 1, .steps_per_run = 1'000'000, .pair_features = false});
  std::uint64_t tip = 0;
  const auto run = [&](double number, double other) {
    bench.session.begin_run();
    for (bench.session.next(); bench.session.replaying_prefix(); bench.session.next()) {
      bench.session.done();
    }
    bench.session.magnitude(1, number);
    bench.session.magnitude(2, other);
    const bool is_new = bench.session.done().any();
    const KeepResult kept = is_new ? bench.session.keep() : KeepResult{};
    bench.finish();
    return kept;
  };
  tip = run(5, -1).id;
  EXPECT_NE(tip, 0U);
  EXPECT_EQ(run(4, -1).id, 0U);
  // It is still the one with the least of the other number.
  const KeepResult higher = run(6, -1);
  EXPECT_FALSE(higher.evicted.has_value());
  EXPECT_EQ(run(7, -1).evicted, higher.id);
  EXPECT_EQ(run(5, -2).evicted, tip);
}

TEST(Learning, KindsThatAreOffAreNotNew) {
  Bench bench(kOne, {.steps_per_run = 1'000'000, .features = mask_of(FeatureKind::kEdge)});
  bench.session.begin_run();
  bench.session.next();
  bench.session.feature(FeatureKind::kEvent, 1);
  bench.session.bundle_size(0, 4);
  EXPECT_FALSE(bench.session.target(1, 5.0));
  EXPECT_FALSE(bench.session.done(7, 3).any());
  bench.session.next();
  bench.mark(1);
  EXPECT_TRUE(bench.session.done().any());
}

TEST(Learning, AnEdgeIsNewForEachRuleThatPassesIt) {
  constexpr MachineShape kTwo{.rules = 2, .initializers = 0, .faults = 0};
  Bench bench(kTwo, {.steps_per_run = 1'000'000});
  bench.session.begin_run();
  std::uint32_t novelty = 0;
  for (int i = 0; i < 200; ++i) {
    bench.session.next();
    bench.mark(1);
    novelty += bench.session.done().features;
  }
  EXPECT_EQ(novelty, 1U) << "the first rule came with the edge";
}

TEST(Learning, TheSpeciesEstimateIsOfEdgesWhereThereAreAny) {
  Bench bench(kOne);
  for (int run = 0; run < 200; ++run) {
    bench.session.begin_run();
    bench.session.next();
    bench.session.feature(FeatureKind::kEvent, static_cast<std::uint64_t>(run));
    bench.session.done();
    bench.finish();
  }
  ASSERT_TRUE(bench.session.species_estimate().has_value());
  EXPECT_DOUBLE_EQ(bench.session.species_estimate()->next_run, 1.0);
  for (int run = 0; run < 200; ++run) {
    bench.session.begin_run();
    bench.mark(1);
    bench.finish();
  }
  EXPECT_EQ(bench.session.species_estimate()->seen, 1U);
  EXPECT_DOUBLE_EQ(bench.session.species_estimate()->next_run, 0.0);
}

// In how many of a hundred sessions that know of an ended process rule 1 comes first, and how often after it passed.
std::pair<int, int> shares_of_rule_1(const Tape& ended) {
  constexpr MachineShape kTwo{.rules = 2, .initializers = 0, .faults = 0};
  int first = 0;
  int later = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Bench bench(kTwo, {.seed = seed, .steps_per_run = 1'000'000});
    bench.session.ended_process(ended);
    bench.session.begin_run();
    first += bench.session.next().target == 1 ? 1 : 0;
    bench.session.done();
    for (int i = 0; i < 100; ++i) {
      bench.session.next();
      bench.session.done();
    }
    later += bench.session.next().target == 1 ? 1 : 0;
    bench.session.done();
    bench.session.end_run();
  }
  return {first, later};
}

TEST(Learning, AStepThatEndedAProcessBecomesRarerAtOnceAndIsAsOftenAsEverWhereItPasses) {
  Tape tape;
  EXPECT_NEAR(shares_of_rule_1(tape).first, 50, 15) << "that ended before its first step";
  tape.begin_step(StepKind::kRule, 1, 0);
  const auto [first, later] = shares_of_rule_1(tape);
  EXPECT_LT(first, 25);
  EXPECT_NEAR(later, 50, 15);
  tape.begin_step(StepKind::kRule, 2, 1);
  EXPECT_THROW(shares_of_rule_1(tape), CheckFailure) << "no such rule";
}

// How often rule 1 comes in a run of a session whose failures took `seconds` of 100 in it.
int uses_of_rule_1(const SessionOptions& options, double seconds, bool process) {
  constexpr MachineShape kTwo{.rules = 2, .initializers = 0, .faults = 0};
  Bench bench(kTwo, options);
  if (process) {
    Tape tape;
    tape.begin_step(StepKind::kRule, 1, 0);
    bench.session.ended_process(tape, seconds);
  } else {
    bench.session.begin_run();
    while (bench.session.next().target != 1) {
      bench.session.done();
    }
    bench.session.failure_took(seconds);
    bench.session.failed();
    bench.session.end_run();
  }
  bench.session.search_took(100);
  bench.session.begin_run();
  int uses = 0;
  for (int i = 0; i < 300; ++i) {
    uses += bench.session.next().target == 1 ? 1 : 0;
    bench.session.done();
  }
  bench.session.end_run();
  return uses;
}

TEST(Learning, ARuleWaitsWhoseHangsTookMoreThanTheirShareOfTheTime) {
  const SessionOptions options{.steps_per_run = 1'000'000, .by_clock = true};
  for (const bool process : {false, true}) {
    EXPECT_EQ(uses_of_rule_1(options, 30, process), 0) << process;
    EXPECT_GT(uses_of_rule_1(options, 20, process), 100) << process;
  }
}

TEST(Learning, NoHangDecidesAnythingWhereNoClockMay) {
  EXPECT_GT(uses_of_rule_1({.steps_per_run = 1'000'000}, 30, false), 100);
  EXPECT_GT(uses_of_rule_1({.steps_per_run = 1'000'000}, 30, true), 100);
}

TEST(Learning, RulesThatTheSwarmLeftOutComeBeforeOneThatWaits) {
  constexpr MachineShape kTwo{.rules = 2, .initializers = 0, .faults = 0};
  Bench bench(kTwo, {.steps_per_run = 1'000'000, .by_clock = true}, SwarmPolicy::kAdaptive);
  Tape tape;
  tape.begin_step(StepKind::kRule, 1, 0);
  bench.session.ended_process(tape, 30);
  bench.session.search_took(100);
  int alone = 0;
  for (int run = 0; run < 200; ++run) {
    bench.session.begin_run();
    alone += bench.session.configuration().rules == std::vector{false, true} ? 1 : 0;
    for (int i = 0; i < 20; ++i) {
      EXPECT_NE(bench.session.next().target, 1U) << run;
      bench.session.done();
    }
    bench.session.end_run();
  }
  EXPECT_GT(alone, 0);
}

TEST(Learning, ARuleThatIsAloneNeverWaits) {
  Bench bench(kOne, {.steps_per_run = 1'000'000, .by_clock = true});
  bench.session.begin_run();
  bench.session.next();
  bench.session.failure_took(30);
  bench.session.done();
  EXPECT_EQ(bench.session.next().kind, NextKind::kRule);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
