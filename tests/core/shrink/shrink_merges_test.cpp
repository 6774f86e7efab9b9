// Which tapes the pass that merges steps asks about, and what it leaves.
#include "core/shrink/shrink_merges.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/shrink/shrink_steps.h"
#include "failing_tapes.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

std::int64_t sum_of(const Tape& tape) {
  const Integers integers = integers_of(tape);
  return std::accumulate(integers.begin(), integers.end(), std::int64_t{0});
}

// Steps of as many rules.
Tape of_rules(const Integers& integers) {
  Tape tape;
  for (const std::int64_t integer : integers) {
    const auto number = static_cast<std::uint32_t>(tape.size());
    tape.begin_step(StepKind::kRule, number, number);
    tape.begin_argument(number + 1);
    tape.add(Choice::integer(integer));
  }
  return tape;
}

std::vector<Integers> asked(const Tape& tape, std::vector<Constraint> constraints = {}) {
  MergeSteps pass;
  std::vector<Integers> all;
  for (const Tape& candidate : candidates(pass, FailingTape(tape, std::move(constraints)), never).asked) {
    all.push_back(integers_of(candidate));
  }
  return all;
}

TEST(MergeSteps, AddUpTheIntegersOfStepsOfOneRule) {
  MergeSteps pass;
  const Tape left = left_by(pass, tape_of_integers({3, 4, 2}), [](const Tape& tape) { return sum_of(tape) >= 9; });
  EXPECT_EQ(integers_of(left), (Integers{9}));
}

TEST(MergeSteps, ASimplestValueAboveZeroCountsInFull) {
  MergeSteps pass;
  const std::vector<Constraint> constraints(4, Constraint{1, 3, 1});
  const Swept swept = candidates(pass, FailingTape(tape_of_integers({1, 1, 1, 3}), constraints),
                                 [](const Tape& tape) { return sum_of(tape) >= 6; });
  EXPECT_EQ(integers_of(swept.left.tape), (Integers{3, 3}));
}

TEST(MergeSteps, WhatOneCannotTakeGoesToTheNext) {
  const std::vector<Constraint> constraints(3, Constraint{1, 3, 1});
  EXPECT_EQ(asked(tape_of_integers({2, 2, 2}), constraints).front(), (Integers{3, 3}));
  EXPECT_EQ(asked(tape_of_integers({3, 4}), {{0, 5, 0}, {0, 5, 0}}).front(), (Integers{5}));
  EXPECT_TRUE(asked(tape_of_integers({5, 5}), {{0, 5, 0}, {0, 5, 0}}).empty());
}

TEST(MergeSteps, OtherRulesTakeWhatTheirOwnCannot) {
  EXPECT_EQ(asked(of_rules({1, 20, 300})),
            (std::vector<Integers>{{301, 20}, {21, 300}, {1, 320}, {21, 300}, {21, 300}, {20, 301}}));
  EXPECT_EQ(asked(of_rules({9, 4}), {{0, 10, 0}, {}}), (std::vector<Integers>{{10}, {13}, {13}}));
}

TEST(MergeSteps, AnyIntegerBehindTakesItInAShortTape) {
  MergeSteps pass;
  const auto last_is_four = [](const Tape& tape) { return tape.size() > 0 && integers_of(tape).back() == 4; };
  EXPECT_EQ(integers_of(left_by(pass, of_rules({5, 1, 2, 2}), last_is_four)), (Integers{6, 4}));
  const std::vector<std::int64_t> many(MergeSteps::kStepsMax + 1, 1);
  EXPECT_LE(asked(of_rules(many)).size(), 2 * many.size());
}

TEST(MergeSteps, NegativeIntegersGoDown) {
  constexpr std::int64_t kLow = Constraint::kAny;
  EXPECT_EQ(asked(tape_of_integers({-3, 4})).front(), (Integers{1}));
  EXPECT_EQ(asked(tape_of_integers({kLow, kLow})).size(), 0U);
  EXPECT_EQ(asked(tape_of_integers({kLow, 0})).front(), (Integers{kLow}));
}

TEST(MergeSteps, NothingToGiveIsNoCandidate) {
  EXPECT_TRUE(asked(tape_of_integers({0, 0})).empty());
  EXPECT_TRUE(asked(tape_of_integers({7})).empty());
  EXPECT_TRUE(asked(steps_with({{Choice::text("")}, {Choice::text("b")}})).empty());
  EXPECT_TRUE(asked(steps_with({{Choice::text("a")}, {Choice::bytes("b")}})).empty());
  Tape reference = tape_of_integers({5});
  reference.set_producer(0);
  EXPECT_TRUE(asked(reference).empty());
}

TEST(MergeSteps, ListsAreJoined) {
  MergeSteps pass;
  const Tape left = left_by(pass, steps_with({list_of({0, 1}), list_of({7}), list_of({2, 3})}),
                            [](const Tape& tape) { return integers_of(tape).size() == 5; });
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left.choices(left.arguments()[0]).size(), list_of({0, 1, 7, 2, 3}).size());
  EXPECT_EQ(integers_of(left), (Integers{0, 1, 7, 2, 3}));
}

TEST(MergeSteps, TextsAreJoinedWhereTheOtherChoicesAreAlike) {
  MergeSteps pass;
  const Tape left = left_by(pass, steps_with({{Choice::text("ab")}, {Choice::text("c")}}),
                            [](const Tape& tape) { return tape.choices()[0].blob().size() == 3; });
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left.choices()[0], Choice::text("abc"));
  MergeSteps again;
  const Tape mixed = left_by(
      again, steps_with({{Choice::boolean(true), Choice::bytes("x")}, {Choice::boolean(false), Choice::bytes("y")}}),
      [](const Tape& tape) { return tape.choices()[1].blob() == "xy"; });
  ASSERT_EQ(mixed.size(), 1U);
  EXPECT_EQ(mixed.choices()[0], Choice::boolean(false));
}

// Pushes as many as a later step asks for.
bool is_asked_for_all(const Tape& tape) {
  const Integers integers = integers_of(tape);
  return !integers.empty() && integers.size() >= 3 && integers.back() == static_cast<std::int64_t>(integers.size());
}

TEST(RemoveAndLower, AStepGoesWithOneLessElsewhere) {
  RemoveAndLower pass;
  EXPECT_EQ(integers_of(left_by(pass, tape_of_integers({0, 0, 0, 0, 5}), is_asked_for_all)), (Integers{0, 0, 3}));
}

TEST(RemoveAndLower, WhatSelectsMayBecomeAnything) {
  const auto fails = [](const Tape& tape) { return tape.size() == 3 || integers_of(tape) == Integers{0, 2}; };
  for (const bool selects : {true, false}) {
    RemoveAndLower pass;
    const FailingTape failing(tape_of_integers({0, 7, 9}), {{}, {}, {.low = 0, .high = 12, .selects = selects}});
    const Tape left = candidates(pass, failing, fails).left.tape;
    EXPECT_EQ(integers_of(left), selects ? (Integers{0, 2}) : (Integers{0, 7, 9}));
  }
}

TEST(RemoveAndLower, TextsGetShorter) {
  RemoveAndLower pass;
  const auto fails = [](const Tape& tape) {
    return tape.size() == 2 || (tape.size() == 1 && tape.choices()[0].blob() == "ab");
  };
  const Tape left = left_by(pass, steps_with({{}, {Choice::text("abcd")}}), fails);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left.choices()[0], Choice::text("ab"));
}

TEST(RemoveAndLower, CandidatesAreLimited) {
  RemoveAndLower pass;
  const std::vector<Constraint> constraints(40, {.low = 0, .high = 12, .selects = true});
  const FailingTape many(tape_of_integers(Integers(40, 9)), constraints);
  EXPECT_EQ(candidates(pass, many, never).asked.size(), RemoveAndLower::kCandidatesMax);
  EXPECT_TRUE(candidates(pass, FailingTape(tape_of_integers({0, 0})), never).asked.empty());
}

TEST(MergeSteps, ASearchOverTheSameStepsProposesNothing) {
  MergeSteps pass;
  EXPECT_FALSE(candidates(pass, FailingTape(tape_of_integers({1, 2})), never).asked.empty());
  EXPECT_TRUE(candidates(pass, FailingTape(tape_of_integers({3, 4})), never).asked.empty());
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
