// When comparisons are watched, and what is made of them.
#include "core/operand_search.h"

#include <gtest/gtest.h>

#include <vector>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

Tape tape_of(std::int64_t value) {
  Tape tape;
  for (std::uint32_t origin = 0; origin < 3; ++origin) {
    tape.begin_step(StepKind::kRule, 0, origin);
    tape.begin_argument(1);
    tape.add(Choice::integer(value + origin));
  }
  return tape;
}

// Barren runs until comparisons are wanted.
std::uint64_t wait(OperandSearch& search) {
  std::uint64_t runs = 0;
  while (!search.due()) {
    search.end_run(0, false);
    ++runs;
  }
  return runs;
}

void watch_nothing(OperandSearch& search) {
  ValuePool pool;
  while (search.due()) {
    search.learn(Tape(), 0, {}, pool);
  }
}

TEST(OperandSearch, WaitsLongerEachTimeThatBroughtNothing) {
  OperandSearch search;
  for (const std::uint64_t expected : {16U, 32U, 64U}) {
    EXPECT_EQ(wait(search), expected);
    watch_nothing(search);
  }
  search.end_run(1, true);  // a turned comparison led on: what lies behind it is watched at once
  EXPECT_EQ(wait(search), 0U);
  watch_nothing(search);
  EXPECT_EQ(wait(search), OperandSearch::kWaitMin);
}

TEST(OperandSearch, WatchesTheRunAndThenCheckpoints) {
  OperandSearch search;
  ValuePool pool;
  wait(search);
  EXPECT_TRUE(search.watches_run());
  search.learn(Tape(), 0, {}, pool);
  for (std::uint64_t i = 0; i < OperandSearch::kOthersInARow; ++i) {
    EXPECT_TRUE(search.due());
    EXPECT_FALSE(search.watches_run());
    search.learn(Tape(), 50 - i, {}, pool);
    EXPECT_EQ(search.watched(), 50 - i);
  }
  EXPECT_FALSE(search.due());
}

TEST(OperandSearch, NewEdgesPutItOff) {
  OperandSearch search;
  for (int i = 0; i < 100; ++i) {
    search.end_run(i % 10 == 0 ? 1 : 0, false);
    EXPECT_FALSE(search.due());
  }
}

TEST(OperandSearch, MakesTapesThatTurnAComparison) {
  OperandSearch search;
  ValuePool pool;
  const std::vector<Comparison> compared{{2, Relation::kEqual, Choice::integer(70'001), Choice::integer(123'456'789)}};
  EXPECT_EQ(search.learn(tape_of(70'000), 0, compared, pool), 1U);
  EXPECT_EQ(pool.size(ValueShelf::kOperand, ChoiceKind::kInteger), 2U);
  const auto tape = search.next();
  ASSERT_TRUE(tape);
  EXPECT_EQ(tape->size(), 2U);
  EXPECT_EQ(tape->choices()[0], Choice::integer(70'000));
  EXPECT_EQ(tape->choices()[1], Choice::integer(123'456'789));
  EXPECT_FALSE(search.next());
}

TEST(OperandSearch, TakesEveryOtherRunAtMost) {
  OperandSearch search;
  ValuePool pool;
  const std::vector<Comparison> compared{{3, Relation::kOrder, Choice::integer(70'001), Choice::integer(90'000)}};
  EXPECT_EQ(search.learn(tape_of(70'000), 0, compared, pool), 3U);
  int tapes = 0;
  for (int i = 0; i < 6; ++i) {
    tapes += search.next() ? 1 : 0;
  }
  EXPECT_EQ(tapes, 3);
}

TEST(OperandSearch, TriesAnEditAFewTimesOnly) {
  OperandSearch search;
  ValuePool pool;
  const std::vector<Comparison> compared{{3, Relation::kEqual, Choice::integer(70'001), Choice::integer(90'000)}};
  std::size_t queued = 0;
  for (int i = 0; i < 10; ++i) {
    queued += search.learn(tape_of(70'000), 0, compared, pool);
  }
  EXPECT_EQ(queued, OperandSearch::kTriesMax);
}

TEST(OperandSearch, GoesOnWhereItWasSaved) {
  OperandSearch search;
  ValuePool pool;
  wait(search);
  const std::vector<Comparison> compared{{3, Relation::kOrder, Choice::integer(70'001), Choice::integer(90'000)}};
  search.learn(tape_of(70'000), 0, compared, pool);
  static_cast<void>(search.next());
  OperandSearch other;
  other.restore(search.save());
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(search.due(), other.due());
    EXPECT_EQ(search.next(), other.next());
    EXPECT_EQ(search.learn(tape_of(70'000), 0, compared, pool), other.learn(tape_of(70'000), 0, compared, pool));
    search.end_run(0, true);
    other.end_run(0, true);
  }
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
