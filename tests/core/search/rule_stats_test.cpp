// What is counted of each rule, and how rules, values and orders that fail or take long become rarer.
#include "core/search/rule_stats.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "core/base/check.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr std::uint32_t kArgument = 1;
constexpr double kFast = 20e-6;
constexpr double kSlow = 0.004;

// A step of rule 1 with this argument, after one of the rule `before`.
Tape tape_of(std::uint32_t before, const Choice& value, std::uint32_t name = kArgument) {
  Tape tape;
  tape.begin_step(StepKind::kRule, before, 0);
  tape.begin_step(StepKind::kRule, 1, 1);
  tape.begin_argument(name);
  tape.add(value);
  return tape;
}

struct Stats : RuleStats {
  explicit Stats(std::size_t faults = 0, bool by_clock = true) : RuleStats(4, faults, by_clock) {}

  void fail(const Tape& tape, int times = 1) {
    for (int i = 0; i < times; ++i) {
      failed_again(tape);
    }
  }
  void pass(const Tape& tape, int times = 1) {
    for (int i = 0; i < times; ++i) {
      passed(tape, {});
    }
  }
  void note(std::uint32_t rule, double seconds, int steps) {
    for (int i = 0; i < steps; ++i) {
      took(rule, seconds);
    }
  }

  template <typename Asked>
  static double share(Asked asked) {
    Rng rng(1);
    int yes = 0;
    for (int i = 0; i < 10'000; ++i) {
      yes += asked(rng) ? 1 : 0;
    }
    return yes / 10'000.0;
  }
  [[nodiscard]] double share_avoided(const Tape& after) const {
    return share([&](Rng& rng) { return avoids(after, 1, rng); });
  }
  [[nodiscard]] double share_drawn_again(const Tape& tape) const {
    return share([&](Rng& rng) { return avoids_values(tape, rng); });
  }
  [[nodiscard]] double share_too_expensive(std::uint32_t rule) const {
    return share([&](Rng& rng) { return avoids_expensive(rule, rng); });
  }
};

TEST(RuleStats, CountsAStepUnderEachFaultThatWasOn) {
  RuleStats stats(2, 2, true);
  Tape tape;
  tape.begin_step(StepKind::kRule, 0, 0);
  stats.passed(tape, {false, false});
  tape.begin_step(StepKind::kRule, 1, 1);
  stats.passed(tape, {true, false});
  stats.failed(1, {true, true});
  const std::vector<RuleUseCounts> expected{{.steps = 1, .failed = 0}, {}, {}, {}, {.steps = 2, .failed = 1},
                                            {.steps = 1, .failed = 1}};
  EXPECT_EQ(stats.columns(), 3U);
  EXPECT_EQ(stats.uses(), expected);
}

TEST(RuleStats, AvoidsNothingAndDrawsNothingUntilAStepFailed) {
  Stats stats;
  const Tape tape = tape_of(0, Choice::integer(7));
  stats.pass(tape);
  Rng rng(1);
  EXPECT_FALSE(stats.avoids_values(tape, rng));
  EXPECT_FALSE(stats.avoids(tape, 1, rng));
  EXPECT_EQ(rng.state(), Rng(1).state());
  EXPECT_TRUE(stats.circumstances().empty()) << "nothing is counted before the first failure";
  EXPECT_EQ(stats.risk()[1], RuleRiskCounts{});
}

TEST(RuleStats, ARuleOfWhichMostStepsFailedIsAvoidedTheMoreTheMoreOfThem) {
  Stats stats;
  const Tape failing = tape_of(0, Choice::integer(7));
  stats.fail(failing);
  EXPECT_EQ(stats.share_avoided(failing), 0.0) << "one failure says little";
  stats.fail(failing, 5);
  EXPECT_NEAR(stats.share_avoided(failing), 0.5, 0.02);
  stats.pass(failing, 7);
  EXPECT_EQ(stats.share_avoided(failing), 0.0);
  stats.fail(failing, 1'000);
  EXPECT_NEAR(stats.share_avoided(failing), RuleStats::kChanceMax, 0.02);
}

TEST(RuleStats, AvoidsARuleAfterTheStepsAfterWhichItFailed) {
  Stats stats;
  for (int i = 0; i < 9; ++i) {
    stats.fail(tape_of(3, Choice::integer(i)));
    stats.pass(tape_of(2, Choice::integer(i)));
  }
  Tape after;
  EXPECT_EQ(stats.share_avoided(after), 0) << "at the beginning of a run";
  after.begin_step(StepKind::kRule, 3, 0);
  EXPECT_GT(stats.share_avoided(after), 0.85);
  after.begin_step(StepKind::kFaultOn, 3, 1);
  EXPECT_EQ(stats.share_avoided(after), 0) << "after a fault of the same number";
}

TEST(RuleStats, AvoidsAValueAsOftenAsItFailed) {
  Stats stats;
  const Tape seven = tape_of(0, Choice::integer(7));
  const Tape six = tape_of(0, Choice::integer(6));
  stats.fail(seven);
  EXPECT_EQ(stats.share_drawn_again(seven), 0.0) << "one failure says little";
  stats.fail(seven, 2);
  EXPECT_NEAR(stats.share_drawn_again(seven), 0.75, 0.02);
  stats.pass(six, 2);
  EXPECT_NEAR(stats.share_drawn_again(seven), 0.75, 0.02);
  EXPECT_EQ(stats.share_drawn_again(six), 0.0) << "as large, and passed as often as it failed";
  EXPECT_EQ(stats.share_drawn_again(tape_of(0, Choice::integer(-7))), 0.0);
  stats.fail(seven, 1'000);
  EXPECT_NEAR(stats.share_drawn_again(seven), RuleStats::kChanceMax, 0.02);
}

TEST(RuleStats, AvoidsValuesThatAreAsLarge) {
  const std::vector<std::array<Choice, 3>> rows{
      {Choice::integer(-1'000), Choice::integer(-600), Choice::integer(600)},
      {Choice::real(-1.5), Choice::real(-1.25), Choice::real(5.0)},
      {Choice::text("abcde"), Choice::text("xyzw"), Choice::text("")},
      {Choice::real(0.0), Choice::real(0.0), Choice::real(-0.0)},
  };
  for (const auto& [failing, similar, other] : rows) {
    Stats stats;
    stats.fail(tape_of(0, failing), 9);
    EXPECT_GT(stats.share_drawn_again(tape_of(0, similar)), 0.8);
    EXPECT_EQ(stats.share_drawn_again(tape_of(0, other)), 0.0);
  }
}

TEST(RuleStats, DrawsInTheBodyComeTooLate) {
  Stats stats;
  const Tape tape = tape_of(0, Choice::integer(7), 0);
  stats.fail(tape, 9);
  EXPECT_EQ(stats.share_drawn_again(tape), 0.0);
}

TEST(RuleStats, ContinuesFromSavedCounts) {
  Stats stats;
  stats.fail(tape_of(0, Choice::integer(7)));
  stats.pass(tape_of(0, Choice::integer(6)));
  EXPECT_EQ(stats.circumstances().size(), 3U) << "the step before, the value, and how large it is";
  Stats again;
  again.restore(stats.risk(), stats.circumstances());
  EXPECT_EQ(again.risk(), stats.risk());
  EXPECT_EQ(again.circumstances(), stats.circumstances());
  again.restore({}, {});
  EXPECT_EQ(again.risk(), stats.risk()) << "empty for none";
  using Places = std::vector<CircumstanceCounts>;
  EXPECT_THROW(again.restore({{}}, {}), CheckFailure);
  EXPECT_THROW(again.restore({}, Places{{.place = RuleStats::kPlaces, .failed = 1}}), CheckFailure);
  EXPECT_THROW(again.restore({}, Places{{.place = 0, .passed = 1}}), CheckFailure);
}

TEST(RuleStats, ARuleIsAvoidedByTheRootOfHowExpensiveItIs) {
  Stats stats;
  stats.note(0, kSlow, 10);
  stats.note(1, 4 * kSlow, 10);
  EXPECT_EQ(stats.share_too_expensive(0), 0.0);
  EXPECT_NEAR(stats.share_too_expensive(1), 0.5, 0.02);
  stats.note(1, 10'000 * kSlow, 10);
  EXPECT_NEAR(stats.share_too_expensive(1), 1 - RuleStats::kKeptMin, 0.02) << "it is still proposed";
}

// Steps of rule 0, then those of rule 1, which is not avoided.
struct Cheap {
  const char* why;
  double seconds;
  int steps;
  std::vector<double> of_rule;
};

TEST(RuleStats, NoRuleIsTooExpensiveWhere) {
  const std::vector<Cheap> rows{
      {"all steps are fast", kFast, 100, std::vector<double>(100, 9 * kFast)},
      {"most of the program is fast", kFast, 1'000, std::vector<double>(10, kSlow)},
      {"a few steps say nothing of a rule", kSlow, 10, std::vector<double>(3, 100 * kSlow)},
      {"an import takes its time once", kFast, 10, {0.5, kFast, kFast, kFast, kFast, kFast}},
      {"there is no other", 0, 0, std::vector<double>(10, kSlow)},
  };
  for (const Cheap& row : rows) {
    Stats stats;
    stats.note(0, row.seconds, row.steps);
    for (const double seconds : row.of_rule) {
      stats.took(1, seconds);
    }
    Rng rng(1);
    EXPECT_FALSE(stats.avoids_expensive(1, rng)) << row.why;
    EXPECT_EQ(rng.state(), Rng(1).state()) << row.why;
  }
}

TEST(RuleStats, MostOfTheStepsSayWhetherTheyAreSlow) {
  Stats stats;
  stats.note(0, 0.5, 3);
  EXPECT_FALSE(stats.are_slow()) << "too few";
  stats.note(0, kFast, 3);
  EXPECT_FALSE(stats.are_slow()) << "the first ones imported something";
  stats.note(0, kSlow, 1);
  EXPECT_TRUE(stats.are_slow());
  EXPECT_TRUE(stats.wants_times());
  stats.note(0, kFast, 57);
  EXPECT_FALSE(stats.wants_times()) << "there were enough";
  EXPECT_FALSE(Stats(0, false).wants_times()) << "no clock may decide";
}

TEST(RuleStats, RunsOfFastStepsAreAllEqual) {
  Stats stats;
  EXPECT_EQ(stats.run_took(0.010, 100), 1);
  EXPECT_EQ(stats.run_took(0.050, 100), 1);
  EXPECT_FALSE(stats.runs_are_slow());
}

TEST(RuleStats, SlowRunsAreMultiplesOfTheMean) {
  Stats stats;
  EXPECT_DOUBLE_EQ(stats.run_took(1.0, 100), 1) << "the only one so far";
  EXPECT_EQ(stats.run_took(0, 100), 1) << "unknown, and not counted";
  EXPECT_EQ(stats.run_took(5.0, 0), 1) << "the same";
  EXPECT_DOUBLE_EQ(stats.run_took(3.0, 100), 1.5) << "30 ms, where the mean is 20";
  EXPECT_DOUBLE_EQ(stats.run_took(1.0, 50), 1) << "20 ms, like the mean";
  EXPECT_TRUE(stats.runs_are_slow());
}

TEST(RuleStats, OneRunThatWasHeldUpHasALimit) {
  Stats stats;
  stats.run_took(0.1, 100'000);
  stats.run_took(1.0, 900);
  EXPECT_EQ(stats.run_took(1'000'000, 1), RuleStats::kSlownessMax);
}

TEST(RuleStats, RulesThatUsedUpTheirShareOfTimeWaitUntilTheSearchHasGoneOn) {
  Stats stats;
  EXPECT_FALSE(stats.any_waits());
  stats.search_took(10);
  stats.lost(0, 2);
  EXPECT_FALSE(stats.waits(0));
  stats.lost(1, 1);
  EXPECT_TRUE(stats.waits(0)) << "all such rules share one share";
  EXPECT_TRUE(stats.waits(1));
  EXPECT_FALSE(stats.waits(2));
  stats.search_took(13);
  EXPECT_FALSE(stats.any_waits());
}

TEST(RuleStats, ACrashWeighsMoreAndTakesTime) {
  Stats stats;
  stats.crashed(tape_of(0, Choice::integer(7)), 30);
  EXPECT_EQ(stats.risk()[1].failed, 4U);
  EXPECT_TRUE(stats.waits(1));
  Stats without_clock(0, false);
  without_clock.crashed(tape_of(0, Choice::integer(7)), 30);
  EXPECT_FALSE(without_clock.waits(1));
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
