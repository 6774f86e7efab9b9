// The passes over values, each on what it is for: what is left, and that nothing else is asked.
#include "core/shrink/shrink_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "failing_tapes.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

TEST(LowerTogether, EqualValuesInSeveralStepsGoDownAtOnce) {
  LowerTogether pass;
  const Tape left = left_by(pass, tape_of_integers({77, 5, 77}), [](const Tape& tape) {
    const Integers integers = integers_of(tape);
    return integers[0] == integers[2] && integers[0] >= 12;
  });
  EXPECT_EQ(integers_of(left), (Integers{12, 5, 12}));
  EXPECT_TRUE(candidates(pass, FailingTape(tape_of_integers({1, 2, 3, 0, 0})), never).asked.empty());
}

TEST(LowerValues, EachValueGoesDownInItsConstraint) {
  LowerValues pass;
  const FailingTape failing(tape_of_integers({187, 9, 0}), {{100, 200, 100}, {}, {}});
  const Swept swept = candidates(pass, failing, [](const Tape& tape) { return integers_of(tape)[0] >= 150; });
  EXPECT_EQ(integers_of(swept.left.tape), (Integers{150, 0, 0}));
  EXPECT_LE(swept.asked.size(), 12U);
}

TEST(LowerValues, AValueIsSearchedThoroughlyOnce) {
  LowerValues pass;
  const std::size_t first = candidates(pass, FailingTape(tape_of_integers({1000})), never).asked.size();
  EXPECT_LE(candidates(pass, FailingTape(tape_of_integers({1000})), never).asked.size(), 3U);
  EXPECT_GT(first, 8U);
  EXPECT_LE(first, 20U);
}

TEST(LowerValues, WhereAFilterStopsBisectionAnotherSweepGoesOn) {
  LowerValues pass;
  const auto fails = [](const Tape& tape) { return integers_of(tape)[0] % 3 != 0; };
  const FailingTape failing(tape_of_integers({397'634}), {{0, 1'000'000'000, 0}});
  const Swept once = candidates(pass, failing, fails);
  EXPECT_GT(integers_of(once.left.tape)[0], 300'000);
  EXPECT_EQ(integers_of(candidates(pass, once.left, fails).left.tape), (Integers{1}));
}

TEST(LowerValues, ManyEqualValuesAreNotAllSearchedThoroughly) {
  LowerValues pass;
  const std::size_t asked = candidates(pass, FailingTape(tape_of_integers(Integers(200, 101))), never).asked.size();
  EXPECT_GE(asked, 600U);
  EXPECT_LE(asked, 760U);
}

TEST(LowerValues, WhereNoneOfVeryManyEqualOnesGoesDownTheRestIsLeft) {
  LowerValues pass;
  const FailingTape failing(tape_of_integers(Integers(4'000, 7)));
  EXPECT_LE(candidates(pass, failing, never).asked.size(), 3U * LowerValues::kInVainMax + 160U);
  EXPECT_TRUE(candidates(pass, failing, never).asked.empty());
}

TEST(LowerValues, ReferencesAreLeftAlone) {
  Tape tape = step_with({Choice::integer(3)});
  tape.set_producer(0);
  LowerValues pass;
  EXPECT_TRUE(candidates(pass, FailingTape(tape), never).asked.empty());
}

TEST(LowerMany, ToOneDistance) {
  LowerMany pass;
  Integers integers(1'000);
  std::iota(integers.begin(), integers.end(), 500);
  const auto fails = [](const Tape& tape) {
    return std::ranges::all_of(integers_of(tape), [](std::int64_t integer) { return integer > 100; });
  };
  const Swept swept = candidates(pass, FailingTape(tape_of_integers(integers)), fails);
  EXPECT_EQ(integers_of(swept.left.tape), Integers(1'000, 101));
  EXPECT_LE(swept.asked.size(), Patience::kRefusalsMax + 11U);
}

TEST(LowerMany, TheLastOnesTakeWhatTheirBoundsAllow) {
  LowerMany pass;
  const FailingTape failing(step_with(std::vector<Choice>(40, Choice::integer(10))),
                            std::vector<Constraint>(40, {0, 100, 0}));
  const auto fails = [](const Tape& tape) {
    const Integers integers = integers_of(tape);
    return std::accumulate(integers.begin(), integers.end(), std::int64_t{0}) >= 400;
  };
  const Swept swept = candidates(pass, failing, fails);
  Integers poured(36, 0);
  poured.insert(poured.end(), 4, 100);
  EXPECT_EQ(integers_of(swept.left.tape), poured);
  EXPECT_LE(swept.asked.size(), 40U);
}

TEST(LowerMany, FewAreLeftToThePassOverValues) {
  LowerMany pass;
  const Integers few(LowerMany::kValuesMin - 1, 9);
  EXPECT_TRUE(candidates(pass, FailingTape(tape_of_integers(few)), never).asked.empty());
}

TEST(LowerMany, AFewOfManyAreFound) {
  LowerMany pass;
  Integers integers(4'000, 7);
  integers[77] = integers[1'200] = integers[3'999] = 8;
  const auto fails = [](const Tape& tape) { return std::ranges::count(integers_of(tape), 8) == 3; };
  const Swept swept = candidates(pass, FailingTape(tape_of_integers(integers)), fails);
  EXPECT_LE(std::ranges::count(integers_of(swept.left.tape), 7), 6);
  EXPECT_LE(swept.asked.size(), 120U);
}

TEST(LowerMany, GivesUpWhereAllAreNeeded) {
  LowerMany pass;
  EXPECT_EQ(candidates(pass, FailingTape(tape_of_integers(Integers(4'000, 9))), never).asked.size(),
            Patience::kRefusalsMax + 4);  // and a cap, by bisection
}

TEST(LowerPairs, ASumIsMovedToTheLaterNumber) {
  LowerPairs pass;
  const Tape left = left_by(pass, tape_of_integers({60, 70}), [](const Tape& tape) {
    const Integers integers = integers_of(tape);
    return std::accumulate(integers.begin(), integers.end(), std::int64_t{0}) >= 130 && integers[1] <= 100;
  });
  EXPECT_EQ(integers_of(left), (Integers{30, 100}));
}

TEST(LowerPairs, ASumThatLeavesTheBoundsComesInAtTheOtherEnd) {
  const Constraint word{-32768, 32767, 0};
  LowerPairs pass;
  const FailingTape failing(step_with({Choice::integer(5), Choice::integer(32767)}), {word, word});
  const Swept swept = candidates(pass, failing, [](const Tape& tape) {
    return static_cast<std::int16_t>(integers_of(tape)[0] + integers_of(tape)[1]) == -32764;
  });
  EXPECT_EQ(integers_of(swept.left.tape), (Integers{0, -32764}));
}

TEST(LowerPairs, ABoundIsTriedBeforeTheOtherEnd) {
  LowerPairs pass;
  const FailingTape failing(step_with({Choice::integer(1), Choice::integer(9)}), {{0, 9, 0}, {0, 9, 0}});
  const std::vector<Tape> asked = candidates(pass, failing, never).asked;
  ASSERT_GE(asked.size(), 2U);
  EXPECT_EQ(integers_of(asked[0]), (Integers{0, 9}));
  EXPECT_EQ(integers_of(asked[1]), (Integers{0, 0}));
}

TEST(LowerPairs, OneLessIsMadeUpForByTheMostOfTheNext) {
  LowerPairs pass;
  const FailingTape failing(tape_of_integers({2, 0}), {{0, 23}, {0, 59}});
  const Swept swept = candidates(
      pass, failing, [](const Tape& tape) { return 60 * integers_of(tape)[0] + integers_of(tape)[1] > 100; });
  EXPECT_EQ(integers_of(swept.left.tape), (Integers{1, 59}));
}

TEST(LowerPairs, InALongTapeNothingIsBorrowed) {
  LowerPairs pass;
  std::vector<Constraint> constraints(LowerPairs::kBorrowMax + 1, Constraint{0, 59});
  const FailingTape failing(tape_of_integers(Integers(constraints.size(), 2)), constraints);
  const Swept swept = candidates(pass, failing, never);
  EXPECT_FALSE(swept.asked.empty());
  for (const Tape& tape : swept.asked) {
    const Integers asked = integers_of(tape);
    EXPECT_LE(*std::ranges::max_element(asked), 3);
  }
}

TEST(LowerPairs, ADifferenceIsKeptWhileBothGoDown) {
  LowerPairs pass;
  const Tape left = left_by(pass, tape_of_integers({60, 57}), [](const Tape& tape) {
    const Integers integers = integers_of(tape);
    return integers[0] - integers[1] == 3 && integers[1] >= 10;
  });
  EXPECT_EQ(integers_of(left), (Integers{13, 10}));
}

TEST(LowerPairs, APairThatIsStuckIsNotAskedAboutAgain) {
  LowerPairs pass;
  const FailingTape failing(tape_of_integers({60, 57}));
  EXPECT_EQ(candidates(pass, failing, never).asked.size(), 2U);
  EXPECT_TRUE(candidates(pass, failing, never).asked.empty());
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
