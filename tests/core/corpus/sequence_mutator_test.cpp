// What becomes of sequences that are joined, repeated and edited.
#include "core/corpus/sequence_mutator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <vector>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr int kTries = 2000;

// Two initialize rules, then `rules` rules with targets from 0 on, each with an argument that is its own number.
Tape counted(std::uint32_t rules) {
  Tape tape;
  for (std::uint32_t i = 0; i < rules + 2; ++i) {
    tape.begin_step(i < 2 ? StepKind::kInitialize : StepKind::kRule, i < 2 ? i : i - 2, i);
    tape.begin_argument(1);
    tape.add(Choice::integer(i));
    tape.set_producer(std::int64_t{7} << TapeArgument::kPlaceBits);
  }
  return tape;
}

std::vector<std::uint32_t> targets(const MutatedSequence& sequence) {
  std::vector<std::uint32_t> result;
  for (const TapeStep& step : sequence.tape.steps()) {
    EXPECT_EQ(step.kind, StepKind::kRule);
    result.push_back(step.target);
  }
  return result;
}

TEST(SequenceMutator, SpliceTakesTheEndOfItsDonor) {
  Rng rng(1);
  const Tape donor = counted(20);
  std::set<std::size_t> sizes;
  for (int i = 0; i < kTries; ++i) {
    const std::vector<std::uint32_t> steps = targets(splice(rng, std::array{&donor}, 30));
    for (std::size_t at = 0; at < steps.size(); ++at) {
      EXPECT_EQ(steps[at], 20 - steps.size() + at);
    }
    sizes.insert(steps.size());
  }
  EXPECT_EQ(sizes.size(), 20U);
  EXPECT_FALSE(sizes.contains(0));
}

TEST(SequenceMutator, SpliceJoinsItsDonorsInTheirOrder) {
  Rng rng(1);
  const Tape one = counted(1);
  const Tape five = counted(5);
  const std::vector<std::uint32_t> steps = targets(splice(rng, std::array{&one, &five, &one}, 30));
  EXPECT_EQ(steps.front(), 0U);
  EXPECT_EQ(steps[steps.size() - 2], 4U);
  EXPECT_EQ(steps.back(), 0U);
}

TEST(SequenceMutator, SpliceKeepsWithinItsSteps) {
  Rng rng(1);
  const Tape donor = counted(20);
  for (int i = 0; i < kTries; ++i) {
    EXPECT_LE(splice(rng, std::array{&donor, &donor, &donor}, 3).tape.size(), 3U);
  }
}

TEST(SequenceMutator, RepeatDoesTheLastStepsAgainAndAgain) {
  Rng rng(1);
  const Tape prefix = counted(20);
  std::size_t longest = 0;
  for (int i = 0; i < kTries; ++i) {
    const std::vector<std::uint32_t> steps = targets(repeat(rng, prefix, 40));
    ASSERT_FALSE(steps.empty());
    ASSERT_LE(steps.size(), 40U);
    for (std::size_t at = 1; at < steps.size(); ++at) {
      EXPECT_EQ(steps[at], steps[at - 1] == 19 ? steps[0] : steps[at - 1] + 1);
    }
    longest = std::max(longest, steps.size());
  }
  EXPECT_EQ(longest, 40U);
}

TEST(SequenceMutator, SomeStepsChangeAndMostDoNot) {
  Rng rng(1);
  const Tape donor = counted(20);
  std::size_t steps = 0;
  std::size_t changed = 0;
  for (int i = 0; i < kTries; ++i) {
    const MutatedSequence sequence = splice(rng, std::array{&donor}, 30);
    ASSERT_EQ(sequence.changed.size(), sequence.tape.size());
    steps += sequence.tape.size();
    changed += static_cast<std::size_t>(std::ranges::count(sequence.changed, true));
  }
  EXPECT_GT(changed, steps / 20);
  EXPECT_LT(changed, steps / 5);
}

TEST(SequenceMutator, EditsAreFewAndOfEveryKind) {
  Rng rng(1);
  const Tape tape = counted(20);
  int shorter = 0;
  int longer = 0;
  int reordered = 0;
  int changed = 0;
  int untouched = 0;
  for (int i = 0; i < kTries; ++i) {
    const MutatedSequence sequence = edit(rng, tape);
    ASSERT_EQ(sequence.changed.size(), sequence.tape.size());
    EXPECT_GE(sequence.tape.size(), tape.size() - 16);
    EXPECT_LE(sequence.tape.size(), tape.size() + 64);
    const bool is_changed = std::ranges::find(sequence.changed, true) != sequence.changed.end();
    const bool is_same = std::ranges::equal(sequence.tape.choices(), tape.choices());
    shorter += sequence.tape.size() < tape.size() ? 1 : 0;
    longer += sequence.tape.size() > tape.size() ? 1 : 0;
    reordered += sequence.tape.size() == tape.size() && !is_same ? 1 : 0;
    changed += is_changed ? 1 : 0;
    untouched += is_same && !is_changed ? 1 : 0;
  }
  EXPECT_GT(std::min({shorter, longer, reordered, changed}), kTries / 10);
  EXPECT_LT(untouched, kTries / 20);
}

TEST(SequenceMutator, NothingNamesAStepThatMadeItsValue) {
  Rng rng(1);
  const Tape tape = counted(5);
  for (const MutatedSequence& sequence : {splice(rng, std::array{&tape}, 9), repeat(rng, tape, 9), edit(rng, tape)}) {
    for (const TapeArgument& argument : sequence.tape.arguments()) {
      EXPECT_EQ(argument.producer, TapeArgument::kNoProducer);
    }
  }
}

TEST(SequenceMutator, LongTapesAreCut) {
  Rng rng(1);
  EXPECT_LE(edit(rng, counted(3000)).tape.size(), kEditedStepsMax + 64);
}

TEST(SequenceMutator, OfInitializeRulesAloneNothingIsLeft) {
  Rng rng(1);
  const Tape tape = counted(0);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(splice(rng, std::array{&tape}, 5).empty());
    EXPECT_TRUE(repeat(rng, tape, 5).empty());
  }
}

TEST(SequenceMutator, OneStepCanBeEditedAwayAndNothingBreaks) {
  Rng rng(1);
  Tape one;
  one.begin_step(StepKind::kRule, 0, 0);
  bool is_gone = false;
  for (int i = 0; i < kTries; ++i) {
    is_gone = edit(rng, one).empty() || is_gone;
  }
  EXPECT_TRUE(is_gone);
}

TEST(SequenceMutator, TheSameChanceGivesTheSameSequence) {
  Rng one(3);
  Rng two(3);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(edit(one, counted(12)).tape, edit(two, counted(12)).tape);
    EXPECT_EQ(repeat(one, counted(12), 30).tape, repeat(two, counted(12), 30).tape);
  }
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
