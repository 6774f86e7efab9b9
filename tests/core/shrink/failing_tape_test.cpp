// The order of tapes: what counts more than what.
#include "core/shrink/failing_tape.h"

#include <gtest/gtest.h>

#include <vector>

#include "failing_tapes.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

TapeRank rank_of_text(const std::string& text) { return TapeRank(FailingTape(tape_of(text))); }

TEST(TapeRank, FewerStepsCountMost) {
  EXPECT_LT(rank_of_text("1"), rank_of_text("ab"));
  EXPECT_LT(TapeRank(FailingTape(step_with(list_of({9, 9, 9})))), TapeRank(FailingTape(steps_with({{}, {}}))));
}

TEST(TapeRank, SmallerWindowsCountNext) {
  EXPECT_LT(rank_of_text("a1b"), rank_of_text("1ab"));
  EXPECT_LT(rank_of_text("1a-1b"), rank_of_text("1ab-1"));
  EXPECT_LT(rank_of_text("ab-1"), rank_of_text("1ab"));
  // A needless end of a fault is a step.
  EXPECT_LT(rank_of_text("1a"), rank_of_text("1a-1"));
  // Each fault counts, and one that is on already does not count twice.
  EXPECT_EQ(rank_of_text("11a").fault_windows, 3U);
  EXPECT_EQ(rank_of_text("12a").fault_windows, 5U);
  EXPECT_EQ(rank_of_text("-1a").fault_windows, 0U);
}

TEST(TapeRank, FewerChoicesCountNextAndThenTheFirstThatDiffers) {
  EXPECT_LT(TapeRank(FailingTape(step_with({Choice::integer(99)}))), TapeRank(FailingTape(step_with(list_of({0})))));
  EXPECT_LT(TapeRank(FailingTape(step_with(list_of({0, 9})))), TapeRank(FailingTape(step_with(list_of({1, 0})))));
  EXPECT_EQ(TapeRank(FailingTape(step_with(list_of({1})))), TapeRank(FailingTape(step_with(list_of({1})))));
}

TEST(TapeRank, GoesByTheConstraintsOfItsOwnTape) {
  const Tape tape = step_with({Choice::integer(100)});
  EXPECT_LT(TapeRank(FailingTape(tape, {{.low = 100, .high = 200, .simplest = 100}})), TapeRank(FailingTape(tape)));
}

TEST(FailingTape, ShapesAreStepsArgumentsAndKinds) {
  const Tape tape = steps_with({{Choice::integer(1)}, {Choice::text("a")}});
  EXPECT_TRUE(has_same_shape(tape, steps_with({{Choice::integer(2)}, {Choice::text("")}})));
  EXPECT_FALSE(has_same_shape(tape, steps_with({{Choice::integer(2)}, {Choice::bytes("")}})));
  EXPECT_FALSE(has_same_shape(tape, steps_with({{Choice::integer(2), Choice::text("")}, {}})));
  EXPECT_FALSE(has_same_shape(tape, steps_with({{Choice::integer(2)}})));
  EXPECT_FALSE(has_same_shape(tape_of("1"), tape_of("-1")));
}

TEST(FailingTape, StepsHashWhateverTheyDraw) {
  EXPECT_EQ(hash_of_steps(steps_with({{Choice::integer(1)}})), hash_of_steps(steps_with({{}})));
  EXPECT_NE(hash_of_steps(tape_of("1")), hash_of_steps(tape_of("-1")));
  EXPECT_NE(hash_of_steps(tape_of("ab")), hash_of_steps(tape_of("ba")));
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
