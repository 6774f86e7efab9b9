// The passes over the choices of an argument, each on what it is for: what is left, and that nothing else is asked.
#include "core/shrink/shrink_choices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "failing_tapes.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

using Integers = std::vector<std::int64_t>;

bool never(const Tape& /*tape*/) { return false; }

Tape tape_of_integers(const Integers& integers) {
  std::vector<std::vector<Choice>> steps;
  for (const std::int64_t integer : integers) {
    steps.push_back({Choice::integer(integer)});
  }
  return steps_with(steps);
}

TEST(SimplifyArguments, AllAtOnceThenHalves) {
  SimplifyArguments pass;
  const Swept swept = candidates(pass, FailingTape(tape_of_integers({5, 0, 6, 7, 8})), [](const Tape& tape) {
    // The argument of step 2 is needed; others may go.
    return !tape.choices(tape.arguments()[2]).empty();
  });
  std::vector<std::size_t> sizes;
  for (const Tape& tape : swept.asked) {
    sizes.push_back(tape.choice_count());
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 3, 1, 2, 2}));
  EXPECT_EQ(integers_of(swept.left.tape), (Integers{0, 6}));
}

TEST(SimplifyArguments, WhatIsSimplestOrAReferenceIsLeftAlone) {
  SimplifyArguments pass;
  Tape tape = step_with({Choice::integer(100)});
  tape.begin_argument(2);
  tape.add(Choice::integer(3));
  tape.set_producer(0);
  EXPECT_TRUE(candidates(pass, FailingTape(tape, {{100, 200, 100}, {}}), never).asked.empty());
}

TEST(DeleteChoices, ElementsOfAListGo) {
  DeleteChoices pass;
  const Tape left = left_by(pass, step_with(list_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})), [](const Tape& tape) {
    const Integers left_over = integers_of(tape);
    return std::ranges::count(left_over, 5) == 1 && std::ranges::count(left_over, 9) == 1;
  });
  EXPECT_EQ(left, step_with(list_of({5, 9})));
}

TEST(DeleteChoices, AListInAListGoesAsAWhole) {
  const Choice more = Choice::boolean(true);
  const Choice end = Choice::boolean(false);
  DeleteChoices pass;
  const Tape nested = step_with({more, more, Choice::integer(1), end, more, more, Choice::integer(7), end, end});
  const Tape left =
      left_by(pass, nested, [](const Tape& tape) { return std::ranges::count(integers_of(tape), 7) == 1; });
  EXPECT_EQ(integers_of(left), (Integers{7}));
  EXPECT_LE(left.choice_count(), 5U);
}

TEST(DeleteChoices, OnlyWhatIsFollowedByTheSameKindIsTried) {
  DeleteChoices pass;
  const Tape tape = step_with({Choice::integer(1), Choice::text("a"), Choice::integer(2)});
  const Swept swept = candidates(pass, FailingTape(tape), never);
  ASSERT_EQ(swept.asked.size(), 1U);
  EXPECT_EQ(integers_of(swept.asked[0]), (Integers{2}));
  // Not again while the kinds are the same.
  EXPECT_TRUE(
      candidates(pass, FailingTape(step_with({Choice::integer(3), Choice::text("b"), Choice::integer(4)})), never)
          .asked.size() <= 1U);
}

TEST(DeleteChoices, AmongEqualChoicesOneRunOfEachSizeIsTried) {
  std::vector<Choice> flags(1000, Choice::boolean(false));
  flags[500] = Choice::boolean(true);
  DeleteChoices pass;
  EXPECT_LE(candidates(pass, FailingTape(step_with(flags)), [](const Tape& /*tape*/) { return false; }).asked.size(),
            200U);
  DeleteChoices other;
  const std::vector<Choice> simplest(1000, Choice::boolean(false));
  EXPECT_TRUE(
      candidates(other, FailingTape(step_with(simplest)), [](const Tape& /*tape*/) { return true; }).asked.empty());
}

TEST(DeleteCounted, ALengthGoesDownWithWhatItCounts) {
  // A length, then as many numbers; it fails while one of them is a seven.
  const Predicate fails = [](const Tape& tape) {
    const Integers integers = integers_of(tape);
    return !integers.empty() && integers[0] >= 1 && static_cast<std::size_t>(integers[0]) + 1 <= integers.size() &&
           std::find(integers.begin() + 1, integers.begin() + 1 + integers[0], 7) != integers.end() &&
           static_cast<std::size_t>(integers[0]) + 1 == integers.size();
  };
  DeleteCounted pass;
  const Tape tape =
      step_with({Choice::integer(4), Choice::integer(1), Choice::integer(2), Choice::integer(3), Choice::integer(7)});
  ASSERT_TRUE(fails(tape));
  EXPECT_EQ(integers_of(left_by(pass, tape, fails)), (Integers{1, 7}));
}

std::vector<Choice> choices_of(const Tape& tape) { return {tape.choices().begin(), tape.choices().end()}; }

// Whether these choices are a list of at most two integers, one of them 4, and a 7 behind it. A list of two has no
// choice that ends it.
bool is_full_list_and_seven(const Tape& tape) {
  const std::vector<Choice> choices = choices_of(tape);
  std::size_t at = 0;
  bool has_four = false;
  std::size_t size = 0;
  for (; size < 2 && at + 1 < choices.size() && choices[at] == Choice::boolean(true); ++size, at += 2) {
    has_four = has_four || choices[at + 1] == Choice::integer(4);
  }
  if (size < 2) {
    at += at < choices.size() && choices[at] == Choice::boolean(false) ? 1 : choices.size();
  }
  return has_four && at + 1 == choices.size() && choices[at] == Choice::integer(7);
}

TEST(DeleteDecided, AFullListLosesAnElementAndGetsAnEnd) {
  const Choice yes = Choice::boolean(true);
  DeleteDecided pass;
  const Tape left = left_by(pass, step_with({yes, Choice::integer(4), yes, Choice::integer(5), Choice::integer(7)}),
                            is_full_list_and_seven);
  EXPECT_EQ(choices_of(left),
            (std::vector<Choice>{yes, Choice::integer(4), Choice::boolean(false), Choice::integer(7)}));
}

TEST(DeleteDecided, ALowerBranchDrawsLessOrSomethingElse) {
  const Choice yes = Choice::boolean(true);
  const std::vector<Choice> list{Choice::integer(5), yes, Choice::integer(3)};
  DeleteDecided pass;
  const FailingTape dictionary(step_with({Choice::integer(6), yes, Choice::text(""), Choice::integer(3)}),
                               {{0, 8, 0, nullptr, true}, {}, {}, {}});
  EXPECT_EQ(
      choices_of(candidates(pass, dictionary, [&](const Tape& tape) { return choices_of(tape) == list; }).left.tape),
      list);
  const std::vector<Choice> number{Choice::integer(0), Choice::integer(0), Choice::integer(9)};
  const FailingTape text(step_with({Choice::integer(1), Choice::text(""), Choice::integer(9)}),
                         {{0, 3, 0, nullptr, true}, {}, {}});
  EXPECT_EQ(choices_of(candidates(pass, text, [&](const Tape& tape) { return choices_of(tape) == number; }).left.tape),
            number);
}

TEST(DeleteDecided, AnArgumentIsSearchedOnceAndNumbersThatDecideNothingAreLeftAlone) {
  const Choice yes = Choice::boolean(true);
  DeleteDecided pass;
  const FailingTape full(step_with({yes, Choice::integer(4), yes, Choice::integer(5), Choice::integer(7)}));
  EXPECT_FALSE(candidates(pass, full, never).asked.empty());
  EXPECT_TRUE(candidates(pass, full, never).asked.empty());
  const FailingTape numbers(step_with({Choice::integer(40), Choice::integer(5), Choice::integer(7)}));
  EXPECT_TRUE(candidates(pass, numbers, never).asked.empty());
}

TEST(SortValues, LeavesOfATreeAreSortedAcrossItsBranches) {
  const Constraint branch{0, 1, 0, nullptr, true};
  SortValues pass;
  const FailingTape tree(step_with({Choice::integer(1), Choice::integer(5), Choice::integer(0), Choice::integer(0)}),
                         {branch, {}, branch, {}});
  const Swept swept = candidates(pass, tree, [](const Tape& tape) {
    const auto choices = choices_of(tape);
    return choices[0].number == 1 && choices[2].number == 0 && choices[1].number + choices[3].number == 5;
  });
  EXPECT_EQ(choices_of(swept.left.tape),
            (std::vector<Choice>{Choice::integer(1), Choice::integer(0), Choice::integer(0), Choice::integer(5)}));
}

TEST(SortValues, ValuesOfAnArgumentAreSortedAtOnceOrOneByOne) {
  SortValues pass;
  const auto has_all = [](const Tape& tape) {
    Integers integers = integers_of(tape);
    std::ranges::sort(integers);
    return integers == Integers{1, 2, 3};
  };
  const Tape tape = step_with(list_of({3, 2, 1}));
  EXPECT_EQ(left_by(pass, tape, has_all), step_with(list_of({1, 2, 3})));
  const Tape but_one_last = left_by(
      pass, tape, [&](const Tape& candidate) { return has_all(candidate) && integers_of(candidate).back() == 1; });
  EXPECT_EQ(but_one_last, step_with(list_of({2, 3, 1})));
}

TEST(SortValues, ArgumentsOfStepsOfOneRuleAreSwapped) {
  SortValues pass;
  const auto is_zero_and_one = [](const Tape& tape) {
    const Integers integers = integers_of(tape);
    return integers == Integers{1, 0} || integers == Integers{0, 1};
  };
  EXPECT_EQ(integers_of(left_by(pass, tape_of_integers({1, 0}), is_zero_and_one)), (Integers{0, 1}));
  EXPECT_EQ(integers_of(left_by(pass, tape_of_integers({0, 1}), is_zero_and_one)), (Integers{0, 1}));
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
