// The shrinker against predicates whose smallest failing tape is known: it must get there, and within a bounded number
// of candidates.
#include "core/shrink/shrinker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/base/rng.h"
#include "failing_tapes.h"
#include "search/classic.h"
#include "toy_targets.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

Tape steps_of(const std::vector<std::pair<StepKind, std::uint32_t>>& steps) {
  Tape tape;
  for (const auto& [kind, target] : steps) {
    tape.begin_step(kind, target, static_cast<std::uint32_t>(tape.size()));
  }
  return tape;
}

Tape rules(const std::vector<std::uint32_t>& targets) {
  Tape tape;
  for (const std::uint32_t target : targets) {
    tape.begin_step(StepKind::kRule, target, static_cast<std::uint32_t>(tape.size()));
  }
  return tape;
}

// Rules 0..below and toggles of three faults, in equal parts.
Tape tape_without_choices(Rng& rng, std::size_t size, std::uint32_t below) {
  Tape tape;
  while (tape.size() < size) {
    const auto origin = static_cast<std::uint32_t>(tape.size());
    if (rng.below(2) == 0) {
      tape.begin_step(StepKind::kRule, static_cast<std::uint32_t>(rng.below(below)), origin);
    } else {
      tape.begin_step(rng.below(2) == 0 ? StepKind::kFaultOn : StepKind::kFaultOff,
                      static_cast<std::uint32_t>(rng.below(3)), origin);
    }
  }
  return tape;
}

std::vector<std::uint32_t> targets_of(const Tape& tape) {
  std::vector<std::uint32_t> targets;
  for (const TapeStep& step : tape.steps()) {
    targets.push_back(step.target);
  }
  return targets;
}

// The targets appear in the tape in this order, other steps between them or not.
bool has_in_order(const Tape& tape, const std::vector<std::uint32_t>& targets) {
  std::size_t at = 0;
  for (const TapeStep& step : tape.steps()) {
    at += at < targets.size() && step.kind == StepKind::kRule && step.target == targets[at] ? 1U : 0U;
  }
  return at == targets.size();
}

struct Shrunk {
  Tape tape;
  std::uint64_t candidates = 0;
};

// Asks until nothing is left. Each candidate must be new, with one exception, and the current tape always one that
// failed, ever simpler.
Shrunk shrink(const Tape& failing, const Predicate& fails) {
  EXPECT_TRUE(fails(failing));
  Shrinker shrinker(failing);
  std::set<std::uint64_t> asked;
  std::size_t again = 0;
  Tape last_accepted = failing;
  while (auto candidate = shrinker.candidate()) {
    // One pass may look at a candidate again, for what it draws.
    const bool is_new = asked.insert(candidate->hash()).second;
    EXPECT_TRUE(is_new || shrinker.phase() == "decisions");
    again += is_new ? 0U : 1U;
    if (fails(*candidate)) {
      const bool is_simpler = rank_order(FailingTape(*candidate), FailingTape(last_accepted)) < 0;
      shrinker.accept(*candidate);
      last_accepted = is_simpler ? *candidate : last_accepted;
    } else {
      shrinker.refuse(*candidate);
    }
    EXPECT_EQ(shrinker.current(), last_accepted);
  }
  EXPECT_EQ(shrinker.phase(), "minimal");
  EXPECT_EQ(shrinker.candidates(), asked.size() + again);
  return {shrinker.current(), shrinker.candidates()};
}

std::vector<std::uint32_t> iota(std::uint32_t count) {
  std::vector<std::uint32_t> result(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    result[i] = i;
  }
  return result;
}

bool is_one_minimal(const Tape& tape, const Predicate& fails) {
  for (std::size_t i = 0; i < tape.size(); ++i) {
    std::vector<bool> keep(tape.size(), true);
    keep[i] = false;
    if (fails(tape.subset(keep))) {
      return false;
    }
  }
  return true;
}

TEST(Shrinker, FindsOneStepOfAThousand) {
  for (const std::uint32_t needed : {0U, 1U, 499U, 500U, 998U, 999U}) {
    const Shrunk shrunk = shrink(rules(iota(1000)), [&](const Tape& tape) { return has_in_order(tape, {needed}); });
    EXPECT_EQ(targets_of(shrunk.tape), (std::vector<std::uint32_t>{needed}));
    EXPECT_LE(shrunk.candidates, 25U);
  }
}

TEST(Shrinker, FindsStepsInOrder) {
  Rng rng(1);
  for (int i = 0; i < 20; ++i) {
    Tape tape = tape_without_choices(rng, 200, 20);
    const std::vector<std::uint32_t> needed{3, 17, 3, 8, 11};
    const Predicate fails = [&](const Tape& candidate) { return has_in_order(candidate, needed); };
    for (const std::uint32_t target : needed) {  // so that the tape fails at all
      tape.begin_step(StepKind::kRule, target, static_cast<std::uint32_t>(tape.size()));
    }
    const Shrunk shrunk = shrink(tape, fails);
    EXPECT_EQ(targets_of(shrunk.tape), needed);
    EXPECT_LE(shrunk.candidates, 80U);
  }
}

TEST(Shrinker, FindsAFaultWindow) {
  // Rule 1 runs while fault 2 is on, and rule 3 after it is off again.
  const Predicate fails = [](const Tape& tape) {
    bool is_on = false;
    bool hit = false;
    for (const TapeStep& step : tape.steps()) {
      if (is_fault(step.kind) && step.target == 2) {
        is_on = step.kind == StepKind::kFaultOn;
      }
      hit = hit || (step.kind == StepKind::kRule && step.target == 1 && is_on);
      if (hit && !is_on && step.kind == StepKind::kRule && step.target == 3) {
        return true;
      }
    }
    return false;
  };
  Rng rng(2);
  int failing = 0;
  for (int i = 0; i < 100; ++i) {
    const Tape tape = tape_without_choices(rng, 150, 5);
    if (!fails(tape)) {
      continue;
    }
    ++failing;
    const Shrunk shrunk = shrink(tape, fails);
    EXPECT_EQ(shrunk.tape.size(), 4U);
    EXPECT_LE(shrunk.candidates, 52U);
  }
  EXPECT_GT(failing, 50);
}

// As many ones as zeros, and a seven: only pairs can go.
bool is_balanced(const Tape& tape) {
  int balance = 0;
  bool has_seven = false;
  for (const TapeStep& step : tape.steps()) {
    balance += step.target == 1 ? 1 : 0;
    balance -= step.target == 0 ? 1 : 0;
    has_seven = has_seven || step.target == 7;
  }
  return balance == 0 && has_seven;
}

TEST(Shrinker, FindsPairsThatOnlyGoTogether) {
  Rng rng(3);
  for (int i = 0; i < 20; ++i) {
    std::vector<std::uint32_t> targets{7};
    for (std::uint32_t step = 0; step < 60; ++step) {
      targets.insert(targets.begin() + static_cast<std::ptrdiff_t>(rng.below(targets.size() + 1)), step % 2);
    }
    const Shrunk shrunk = shrink(rules(targets), is_balanced);
    EXPECT_EQ(targets_of(shrunk.tape), (std::vector<std::uint32_t>{7}));
    EXPECT_LE(shrunk.candidates, 90U);
  }
}

TEST(Shrinker, FindsPairsFarApartInAShortTape) {
  // All zeros, then all ones: neighbours never cancel out but in the middle.
  std::vector<std::uint32_t> targets{7};
  targets.insert(targets.end(), 1, 0);
  targets.insert(targets.end(), 20, 5);
  targets.insert(targets.end(), 1, 1);
  const Predicate fails = [](const Tape& tape) {
    return is_balanced(tape) && std::ranges::count(targets_of(tape), 5U) >= 20;
  };
  EXPECT_EQ(shrink(rules(targets), fails).tape.size(), 21U);
}

TEST(Shrinker, AllTogglesOfAFaultGoAtOnce) {
  std::vector<std::pair<StepKind, std::uint32_t>> steps;
  steps.reserve(101);
  for (std::uint32_t i = 0; i < 100; ++i) {
    steps.emplace_back(i % 2 == 0 ? StepKind::kFaultOn : StepKind::kFaultOff, i % 3);
  }
  steps.emplace_back(StepKind::kRule, 0);
  const Shrunk shrunk = shrink(steps_of(steps), [](const Tape& tape) { return has_in_order(tape, {0}); });
  EXPECT_EQ(shrunk.tape.size(), 1U);
  EXPECT_LE(shrunk.candidates, 20U);
}

TEST(Shrinker, AnEmptyTapeIsTheMinimumOfWhatAlwaysFails) {
  const Shrunk shrunk = shrink(rules(iota(100)), [](const Tape& /*tape*/) { return true; });
  EXPECT_TRUE(shrunk.tape.empty());
  EXPECT_LE(shrunk.candidates, 5U);
}

TEST(Shrinker, ShortTapesEnd) {
  for (const std::uint32_t size : {0U, 1U, 2U, 3U}) {
    const Tape tape = rules(iota(size));
    const Shrunk shrunk = shrink(tape, [&](const Tape& candidate) { return candidate.size() == size; });
    EXPECT_EQ(shrunk.tape, tape);
  }
}

// Monotone: a tape fails when one of some sets of steps is in it, whatever else is there.
Predicate random_monotone(Rng& rng, std::size_t size) {
  std::vector<std::vector<std::uint32_t>> sets(1 + rng.below(4));
  for (auto& origins : sets) {
    origins.resize(1 + rng.below(std::min<std::uint64_t>(size, 8)));
    for (std::uint32_t& origin : origins) {
      origin = static_cast<std::uint32_t>(rng.below(size));
    }
  }
  return [sets](const Tape& tape) {
    std::set<std::uint32_t> present;
    for (const TapeStep& step : tape.steps()) {
      present.insert(step.target);
    }
    return std::ranges::any_of(sets, [&](const auto& origins) {
      return std::ranges::all_of(origins, [&](std::uint32_t origin) { return present.contains(origin); });
    });
  };
}

TEST(Shrinker, MonotonePredicatesEndOneMinimalWithinABound) {
  Rng rng(4);
  for (int i = 0; i < 200; ++i) {
    const std::size_t size = 1 + rng.below(150);
    const Tape tape = rules(iota(static_cast<std::uint32_t>(size)));
    const Predicate fails = random_monotone(rng, size);
    const Shrunk shrunk = shrink(tape, fails);
    EXPECT_LE(shrunk.tape.size(), 8U);
    EXPECT_TRUE(is_one_minimal(shrunk.tape, fails));
    EXPECT_LE(shrunk.candidates, 120U) << size;
  }
}

TEST(Shrinker, AnyPredicateEndsOneMinimalWithinABound) {
  // Fails or not by a hash of the targets: nothing can be said of one tape from another.
  Rng rng(5);
  for (int i = 0; i < 50; ++i) {
    const std::uint64_t salt = rng.next();
    const Tape tape = tape_without_choices(rng, 60, 4);
    const Predicate fails = [&](const Tape& candidate) {
      return candidate.size() == 60 || mix64(candidate.hash() ^ salt) % 10 == 0;
    };
    const Shrunk shrunk = shrink(tape, fails);
    EXPECT_TRUE(is_one_minimal(shrunk.tape, fails));
    EXPECT_LE(shrunk.candidates, 500U);
  }
}

TEST(Shrinker, TakesWhatReallyRan) {
  // Steps of odd rules cannot run once 0 is gone: what is realized of a candidate is smaller than the candidate.
  Shrinker shrinker(rules({0, 1, 3, 5, 2, 4}));
  while (auto candidate = shrinker.candidate()) {
    std::vector<bool> keep;
    for (const TapeStep& step : candidate->steps()) {
      keep.push_back(step.target % 2 == 0 || candidate->step(0).target == 0);
    }
    const Tape realized = candidate->subset(keep);
    if (has_in_order(realized, {2, 4})) {
      shrinker.accept(realized);
      EXPECT_EQ(shrinker.current(), realized);
    }
  }
  EXPECT_EQ(targets_of(shrinker.current()), (std::vector<std::uint32_t>{2, 4}));
}

TEST(Shrinker, NeverTakesATapeThatIsNoSmaller) {
  const Tape tape = rules(iota(8));
  Shrinker shrinker(tape);
  while (shrinker.candidate()) {
    shrinker.accept(tape);
    EXPECT_EQ(shrinker.current(), tape);
  }
}

TEST(Shrinker, MayBeLeftAtAnyTime) {
  const Tape tape = rules(iota(50));
  const Predicate fails = [](const Tape& candidate) { return has_in_order(candidate, {10, 40}); };
  for (int limit = 0; limit < 60; ++limit) {
    Shrinker shrinker(tape);
    for (int i = 0; i < limit; ++i) {
      const auto candidate = shrinker.candidate();
      if (!candidate) {
        break;
      }
      if (fails(*candidate)) {
        shrinker.accept(*candidate);
      }
    }
    EXPECT_TRUE(fails(shrinker.current()));
  }
}

TEST(Shrinker, AVerdictNeedsACandidate) {
  Shrinker shrinker(rules(iota(4)));
  EXPECT_THROW(shrinker.refuse(), CheckFailure);
  EXPECT_THROW(shrinker.accept(Tape()), CheckFailure);
  ASSERT_TRUE(shrinker.candidate());
  shrinker.refuse();
  EXPECT_THROW(shrinker.accept(Tape()), CheckFailure);
}

TEST(Shrinker, NamesItsPhases) {
  Tape tape = tape_of("1ab-1c");
  tape.begin_argument(1);
  tape.add(Choice::boolean(true));
  tape.add(Choice::integer(700));
  tape.add(Choice::boolean(true));
  tape.add(Choice::integer(700));
  Shrinker shrinker(tape);
  std::vector<std::string> phases;
  while (shrinker.candidate()) {
    if (phases.empty() || phases.back() != shrinker.phase()) {
      phases.emplace_back(shrinker.phase());
    }
  }
  EXPECT_EQ(phases, (std::vector<std::string>{"steps", "elements", "equals", "values", "windows", "sums", "decisions",
                                              "joins", "pairs"}));
  EXPECT_EQ(shrinker.phase(), "minimal");
}

TEST(Shrinker, EndsForAnyPredicateWithATapeThatFailsAndIsNoLessSimple) {
  Rng rng(6);
  std::uint64_t candidates = 0;
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t salt = rng.next();
    const std::uint64_t odds = 1 + rng.below(8);
    const Tape tape = random_tape(rng, rng.below(25), 4);
    const Predicate fails = [&](const Tape& candidate) {
      return candidate == tape || mix64(candidate.hash() ^ salt) % odds == 0;
    };
    const Shrunk shrunk = shrink(tape, fails);
    EXPECT_TRUE(fails(shrunk.tape));
    EXPECT_TRUE(rank_order(FailingTape(shrunk.tape), FailingTape(tape)) <= 0);
    EXPECT_LE(shrunk.candidates, 10'000U);
    candidates += shrunk.candidates;
  }
  EXPECT_LE(candidates, 300U * 400U);
}

TEST(Shrinker, IsTheSameEachTime) {
  Rng rng(7);
  for (int i = 0; i < 30; ++i) {
    const Tape tape = random_tape(rng, 30, 4);
    const std::uint64_t salt = rng.next();
    const Predicate fails = [&](const Tape& candidate) {
      return candidate == tape || mix64(candidate.hash() ^ salt) % 5 == 0;
    };
    const Shrunk first = shrink(tape, fails);
    const Shrunk second = shrink(tape, fails);
    EXPECT_EQ(first.tape, second.tape);
    EXPECT_EQ(first.candidates, second.candidates);
  }
}

// What a step that draws an integer from 100 to 200 makes of its choice, as a replay does.
Tape clamped(const Tape& tape) {
  const std::int64_t value = tape.choice_count() == 0 ? 100 : tape.choices()[0].number;
  return tape.empty() ? tape : step_with({Choice::integer(std::clamp<std::int64_t>(value, 100, 200))});
}

TEST(Shrinker, LearnsWhatADrawAllowsFromWhatWasRefused) {
  Shrinker shrinker(step_with({Choice::integer(187)}));
  std::uint64_t repaired = 0;
  while (const auto candidate = shrinker.candidate()) {
    const Tape realized = clamped(*candidate);
    repaired += realized == *candidate ? 0U : 1U;
    const std::vector<Constraint> constraints(realized.choice_count(), {100, 200, 100});
    if (!realized.empty() && realized.choices()[0].number >= 150) {
      shrinker.accept(realized, constraints);
    } else {
      shrinker.refuse(realized, constraints);
    }
  }
  EXPECT_EQ(shrinker.current(), step_with({Choice::integer(150)}));
  EXPECT_LE(shrinker.candidates(), 20U);
  EXPECT_LE(repaired, 1U);
}

TEST(Shrinker, TakesTheSimplestValuesOfTheConstraints) {
  // A year towards 2000: 1990 is nearer than 1900, whatever their distance from zero.
  for (const bool tells_when_refused : {true, false}) {
    Shrinker shrinker(step_with({Choice::integer(1900)}));
    while (const auto candidate = shrinker.candidate()) {
      const std::vector<Constraint> constraints(candidate->choice_count(), {1, 9999, 2000});
      if (candidate->choice_count() == 1 && candidate->choices()[0].number <= 1990) {
        shrinker.accept(*candidate, constraints);
      } else if (tells_when_refused) {
        shrinker.refuse(*candidate, constraints);
      } else {
        shrinker.refuse();
      }
    }
    EXPECT_EQ(shrinker.current(), step_with({Choice::integer(1990)}));
  }
}

// The first failing tape that a session finds in a toy machine, shrunk by replaying.
template <typename Machine>
Tape find_and_shrink(std::uint64_t seed) {
  const auto coverage = std::make_shared<CoverageMap>(64);
  Session session(Machine::kShape, classic({.seed = seed}), coverage);
  while (!run_once<Machine>(session, *coverage)) {
  }
  Tape realized;
  EXPECT_TRUE(breaks<Machine>(session.tape(), realized));
  Shrinker shrinker(realized);
  while (auto candidate = shrinker.candidate()) {
    if (breaks<Machine>(*candidate, realized)) {
      shrinker.accept(realized);
    } else {
      shrinker.refuse(realized);
    }
  }
  EXPECT_LE(shrinker.candidates(), 120U);
  return shrinker.current();
}

TEST(Shrinker, ShrinksWhatSessionsFind) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Tape climbed = find_and_shrink<Staircase>(seed);
    EXPECT_TRUE(std::ranges::equal(targets_of(climbed), Staircase::kSteps));
    const Tape written = find_and_shrink<Logbook>(seed);
    // Open, write and close; one fault comes on before the writing, the other one before the closing.
    EXPECT_EQ(written.size(), 5U);
    EXPECT_EQ(integers_of(written), (std::vector<std::int64_t>{901}));
    EXPECT_EQ(fault_windows_of(written), 6U);
    EXPECT_TRUE(has_in_order(written, {Logbook::kOpen, Logbook::kWrite, Logbook::kClose}));
  }
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
