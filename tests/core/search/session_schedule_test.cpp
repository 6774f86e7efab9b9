// What a session does under the adaptive policy: kinds of runs, what options fix, and how mutated sequences run.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "core/base/check.h"
#include "core/search/session.h"
#include "session_bench.h"
#include "toy_targets.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr MachineShape kPlain{.rules = 5, .initializers = 0, .faults = 0};
constexpr MachineShape kFaulty{.rules = 4, .initializers = 2, .faults = 3};

// An adaptive session in which the fifth new step of a run brings something new.
struct Searching : Bench {
  std::uint64_t edge = 0;

  explicit Searching(MachineShape shape, const SessionOptions& options = {})
      : Bench(shape, options, SwarmPolicy::kAdaptive) {}

  void search(int runs) {
    for (int i = 0; i < runs; ++i) {
      session.begin_run();
      go_on();
    }
  }

  // To the end of a run that has begun.
  void go_on() {
    walk();
    session.end_run();
  }

  void walk() {
    while (step()) {
      if (session.tape().size() == session.spec().prefix_steps + 5) {
        mark(++edge);
        session.keep();
      }
    }
  }

  [[nodiscard]] std::uint64_t runs(RunStart start) const {
    return session.run_counts().starts.at(static_cast<std::size_t>(start));
  }
  [[nodiscard]] std::uint64_t runs(RunSwarm swarm) const {
    return session.run_counts().swarms.at(static_cast<std::size_t>(swarm));
  }
};

// Of 800 runs, how many start from a checkpoint beyond the tenth step, where steps take `slow` seconds, else `fast`.
int deep_runs(double fast, double slow) {
  Searching bench(kPlain);
  int deep = 0;
  for (int i = 0; i < 800; ++i) {
    const RunSpec spec = bench.session.begin_run();
    const bool is_deep = spec.prefix_steps > 10;
    deep += static_cast<int>(is_deep);
    bench.walk();
    const std::size_t steps = bench.session.tape().size() - spec.prefix_steps;
    bench.session.end_run(static_cast<double>(steps) * (is_deep ? slow : fast));
  }
  return deep;
}

TEST(SessionSchedule, StatesFromWhichStepsTakeLongGetFewerRuns) {
  const int alike = deep_runs(0.010, 0.010);
  EXPECT_GT(alike, 40);
  EXPECT_LT(deep_runs(0.010, 0.200), alike / 2);
}

// The clock of a slower machine changes nothing for programs of a usual speed, and none counts where it may not.
TEST(SessionSchedule, FastStepsDecideNothing) {
  EXPECT_EQ(deep_runs(1e-6, 20e-6), deep_runs(0, 0));
  EXPECT_EQ(deep_runs(20e-6, 200e-6), deep_runs(0, 0));
}

// Of the integers that 200 runs draw, which share are the simplest, where a step takes `seconds`.
double simplest_share(double seconds) {
  Searching bench(kPlain);
  int zeros = 0;
  int draws = 0;
  for (int i = 0; i < 200; ++i) {
    bench.session.begin_run();
    std::size_t steps = 0;
    while (bench.step()) {
      ++steps;
      zeros += bench.session.tape().choices().back().number == 0 ? 1 : 0;
      ++draws;
    }
    bench.session.end_run(static_cast<double>(steps) * seconds);
  }
  return static_cast<double>(zeros) / draws;
}

TEST(SessionSchedule, SlowProgramsAreGivenSimpleValuesOften) {
  EXPECT_LT(simplest_share(0), 0.1);
  EXPECT_EQ(simplest_share(20e-6), simplest_share(0));
  EXPECT_GT(simplest_share(0.010), 0.3);
  EXPECT_LT(simplest_share(0.010), 0.8);
}

// A search that time ends, in which each step of rule 0 takes `dear` seconds and each other one `usual`.
struct Timed : Searching {
  Timed() : Searching(kPlain, {.by_clock = true}) {}

  // Of the steps of some runs, which share were of rule 0.
  double share_of_first_rule(double usual, double dear) {
    int steps = 0;
    int first = 0;
    for (int i = 0; i < 100; ++i) {
      session.begin_run();
      for (NextStep next = session.next(); next.kind != NextKind::kEnd; next = session.next()) {
        ++steps;
        first += next.target == 0 ? 1 : 0;
        if (session.wants_times()) {
          session.took(next.target == 0 ? dear : usual);
        }
        session.done();
      }
      session.end_run();
    }
    return static_cast<double>(first) / steps;
  }
};

TEST(SessionSchedule, RulesOfASlowProgramShareItsTime) {
  EXPECT_NEAR(Timed().share_of_first_rule(0.004, 0.004), 0.2, 0.05);
  EXPECT_LT(Timed().share_of_first_rule(0.004, 0.4), 0.12);
  EXPECT_EQ(Timed().share_of_first_rule(20e-6, 400e-6), Timed().share_of_first_rule(0, 0));
}

TEST(SessionSchedule, NoTimeIsAskedForWhereTheNumberOfRunsEndsTheSearch) {
  Searching bench(kPlain);
  bench.session.begin_run();
  bench.session.next();
  EXPECT_FALSE(bench.session.wants_times());
}

// The first run learns while it goes on that its steps are slow.
TEST(SessionSchedule, TheFirstSlowRunGoesOnWithSimpleValues) {
  const auto zeros_of_first_run = [](double seconds) {
    Searching bench(kPlain, {.steps_per_run = 1000, .by_clock = true});
    bench.session.begin_run();
    int zeros = 0;
    for (NextStep next = bench.session.next(); next.kind != NextKind::kEnd; next = bench.session.next()) {
      bench.session.source().begin_argument(7);
      zeros += bench.session.source().integer(0, 1'000'000, 0) == 0 ? 1 : 0;
      if (bench.session.wants_times()) {
        bench.session.took(seconds);
      }
      bench.session.done();
    }
    return zeros / static_cast<double>(bench.session.tape().size());
  };
  EXPECT_LT(zeros_of_first_run(20e-6), 0.1);
  EXPECT_GT(zeros_of_first_run(0.010), 0.6);
}

TEST(SessionSchedule, EveryKindOfRunHasItsShare) {
  Searching bench(kFaulty);
  bench.session.direct_swarm({true, false, false, true});
  bench.search(2000);
  const RunCounts& counts = bench.session.run_counts();
  EXPECT_GT(*std::ranges::min_element(counts.starts), 20U);
  EXPECT_GT(*std::ranges::min_element(counts.swarms), 20U);
  EXPECT_EQ(std::accumulate(counts.starts.begin(), counts.starts.end(), std::uint64_t{0}), 2000U);
}

TEST(SessionSchedule, TheClassicPolicyCountsItsFixedShares) {
  Bench bench(kFaulty, {.rule_swarm = true});
  for (int i = 0; i < 500; ++i) {
    bench.keep_one();
  }
  const RunCounts& counts = bench.session.run_counts();
  EXPECT_NEAR(static_cast<double>(counts.starts.at(static_cast<std::size_t>(RunStart::kBranch))), 200.0, 50.0);
  EXPECT_EQ(counts.starts.at(static_cast<std::size_t>(RunStart::kEdit)), 0U);
  EXPECT_GT(counts.swarms.at(static_cast<std::size_t>(RunSwarm::kEnergy)), 200U);
}

TEST(SessionSchedule, AGivenShareOfBranchesIsKept) {
  Searching bench(kPlain, {.checkpoint_prob = 0.2});
  bench.search(3000);
  const std::uint64_t fresh = bench.runs(RunStart::kFresh) + bench.runs(RunStart::kEdit);
  EXPECT_NEAR(static_cast<double>(fresh), 2400.0, 100.0);
  EXPECT_GT(bench.runs(RunStart::kEdit), 0U);
}

TEST(SessionSchedule, WithoutCheckpointsAllRunsAreFresh) {
  for (const SessionOptions& options : {SessionOptions{.max_checkpoints = 0}, SessionOptions{.checkpoint_prob = 0}}) {
    Searching bench(kPlain, options);
    bench.search(200);
    EXPECT_EQ(bench.runs(RunStart::kFresh), 200U);
  }
}

TEST(SessionSchedule, GivenSwarmOptionsAreKept) {
  Searching off(kFaulty, {.rule_swarm = false});
  off.search(200);
  EXPECT_EQ(off.runs(RunSwarm::kFull), 200U);
  EXPECT_FALSE(off.session.learns_swarm());

  Searching sizes(kFaulty, {.swarm = SwarmDistribution::kUniformSize});
  sizes.search(200);
  EXPECT_EQ(sizes.runs(RunSwarm::kUniformSize), 200U);

  Searching learnt(kFaulty, {.rule_swarm = true});
  learnt.search(1000);
  EXPECT_TRUE(learnt.session.learns_swarm());
  EXPECT_NEAR(static_cast<double>(learnt.runs(RunSwarm::kFull)), 98.0, 40.0);  // a tenth after the warm-up
  EXPECT_EQ(learnt.session.swarm().counts().total, 1000U);
}

TEST(SessionSchedule, AGivenShareOfMutationIsKept) {
  Searching bench(kPlain, {.seed_mutation_prob = 0.0});
  bench.search(500);
  EXPECT_EQ(bench.runs(RunStart::kMutate), 0U);
}

TEST(SessionSchedule, WithOneRuleThereIsNothingToLeaveOut) {
  Searching bench({.rules = 1, .initializers = 0, .faults = 0});
  bench.search(100);
  EXPECT_EQ(bench.runs(RunSwarm::kFull), 100U);
}

TEST(SessionSchedule, StepsPerRunStaysTheMost) {
  Searching bench(kPlain, {.steps_per_run = 20});
  for (int i = 0; i < 1000; ++i) {
    bench.search(1);
    EXPECT_LE(bench.session.spec().steps, 20U);
    if (bench.session.spec().checkpoint != 0) {
      EXPECT_LE(bench.session.tape().size() - bench.session.spec().prefix_steps, 20U);
    }
  }
}

// -- mutated sequences --

TEST(SessionSchedule, InitializeRulesComeOnceAndFirstInEveryRun) {
  Searching bench(kFaulty);
  for (int i = 0; i < 1000; ++i) {
    bench.search(1);
    const Tape& tape = bench.session.tape();
    std::array<int, 2> times{};
    for (std::size_t at = 0; at < tape.size(); ++at) {
      if (tape.step(at).kind == StepKind::kInitialize) {
        EXPECT_LT(at, 2U);
        ++times.at(tape.step(at).target);
      }
    }
    EXPECT_LE(times[0], 1);
    EXPECT_LE(times[1], 1);
  }
}

// Of the steps by chance after the initialize rules, in runs that have a fault to switch, under every policy.
TEST(SessionSchedule, FaultTogglesHaveTheShareThatIsAskedFor) {
  for (const SwarmPolicy policy : {SwarmPolicy::kClassic, SwarmPolicy::kAdaptive}) {
    for (const double share : {0.0, 0.3, 1.0}) {
      Bench bench(kFaulty, {.fault_toggle_prob = share}, policy);
      std::uint64_t toggles = 0;
      std::uint64_t steps = 0;
      for (int i = 0; i < 800; ++i) {
        const Tape tape = bench.run();
        const bool counts = bench.session.configuration().fault_count() > 0;
        for (const TapeStep& step : tape.steps()) {
          steps += counts && step.kind != StepKind::kInitialize ? 1U : 0U;
          toggles += counts && is_fault(step.kind) ? 1U : 0U;
          EXPECT_TRUE(counts || !is_fault(step.kind));
        }
      }
      const auto all = static_cast<double>(steps);
      EXPECT_GT(steps, 2'000U);
      EXPECT_NEAR(static_cast<double>(toggles) / all, share, 4 * std::sqrt(share * (1 - share) / all));
    }
  }
}

TEST(SessionSchedule, FaultsAreSwitchedOnlyToWhatTheyAreNot) {
  Searching bench(kFaulty);
  for (int i = 0; i < 1000; ++i) {
    bench.search(1);
    std::array<bool, 3> on{};
    for (const TapeStep& step : bench.session.tape().steps()) {
      if (is_fault(step.kind)) {
        EXPECT_NE(on.at(step.target), step.kind == StepKind::kFaultOn);
        on.at(step.target) = step.kind == StepKind::kFaultOn;
      }
    }
  }
}

TEST(SessionSchedule, OriginsStayUnique) {
  Searching bench(kFaulty);
  for (int i = 0; i < 1000; ++i) {
    bench.search(1);
    const Tape& tape = bench.session.tape();
    for (std::size_t at = 1; at < tape.size(); ++at) {
      EXPECT_GT(tape.step(at).origin, tape.step(at - 1).origin);
    }
  }
}

// A machine on which every rule but the last can run at even steps only.
TEST(SessionSchedule, StepsThatCannotRunAreLeftOut) {
  Searching bench(kFaulty);
  for (int i = 0; i < 1000; ++i) {
    bench.session.begin_run();
    for (NextStep next = bench.session.next(); next.kind != NextKind::kEnd; next = bench.session.next()) {
      ASSERT_NE(next.kind, NextKind::kStuck);
      const std::size_t at = bench.session.tape().size();
      if (next.kind == NextKind::kRule && next.target != 3 && at % 2 == 0 && !bench.session.replaying_prefix()) {
        bench.session.reject();
        continue;
      }
      bench.session.done();
      if (at == 7) {
        bench.mark(++bench.edge);
        bench.session.keep();
      }
    }
    bench.session.end_run();
    EXPECT_LE(bench.session.tape().size() - bench.session.spec().prefix_steps,
              std::size_t{bench.session.spec().steps} + kEditedStepsMax);
  }
}

// The draws of new steps are the same whether the prefix was restored or run again.
TEST(SessionSchedule, RestoringChangesNothing) {
  Searching again(kFaulty);
  Searching restored(kFaulty);
  for (int i = 0; i < 1000; ++i) {
    again.search(1);
    if (restored.session.begin_run().checkpoint != 0) {
      restored.session.restored();
    }
    restored.go_on();
    ASSERT_EQ(again.session.tape().hash(), restored.session.tape().hash());
  }
}

TEST(SessionSchedule, ASavedSessionGoesOnTheSameWay) {
  Searching one(kFaulty, {.seed = 5});
  one.search(400);
  Searching two(kFaulty, {.seed = 5});
  two.session.restore(one.session.save());
  two.edge = one.edge;
  for (int i = 0; i < 300; ++i) {
    one.search(1);
    two.search(1);
    ASSERT_EQ(one.session.tape().hash(), two.session.tape().hash());
  }
  EXPECT_EQ(one.session.run_counts(), two.session.run_counts());
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
