// Which tapes are tried for a failure that has a sibling.
#include "core/tape/sibling_tapes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

// Steps of these rules, each with its rule as the only choice of its only argument.
Tape tape_of(const std::vector<std::uint32_t>& rules, std::uint32_t origin = 0) {
  Tape tape;
  for (const std::uint32_t rule : rules) {
    tape.begin_step(StepKind::kRule, rule, origin++);
    tape.begin_argument(0);
    tape.add(Choice::integer(rule));
  }
  return tape;
}

std::vector<std::uint32_t> rules_of(const Tape& tape) {
  std::vector<std::uint32_t> rules;
  for (const TapeStep& step : tape.steps()) {
    rules.push_back(step.target);
  }
  return rules;
}

using Rules = std::vector<std::uint32_t>;

TEST(SiblingTapes, TriesTheKnownStepsInAnotherOrder) {
  const std::vector<Tape> tapes = sibling_tapes(tape_of({1, 2, 2, 3}), tape_of({5, 5, 1, 3, 2}), false);

  ASSERT_EQ(tapes.size(), 1U);
  EXPECT_EQ(rules_of(tapes[0]), (Rules{1, 2, 3, 2}));
  EXPECT_TRUE(sibling_tapes(tape_of({1, 3}), tape_of({5, 5, 1, 3, 2}), false).empty());
}

TEST(SiblingTapes, ExchangesEachStepForTheLastOneOfTheFailure) {
  const std::vector<Tape> tapes = sibling_tapes(tape_of({1, 2, 3}), tape_of({7, 7, 8, 9}), true);

  ASSERT_EQ(tapes.size(), 3U);
  EXPECT_EQ(rules_of(tapes[0]), (Rules{1, 2, 9}));
  EXPECT_EQ(rules_of(tapes[1]), (Rules{1, 3, 9}));
  EXPECT_EQ(rules_of(tapes[2]), (Rules{2, 3, 9}));
  EXPECT_EQ(tapes[0].choices(tapes[0].arguments(tapes[0].last_step())[0])[0], Choice::integer(9));
}

TEST(SiblingTapes, TriesTheSameStepsFirst) {
  const std::vector<Tape> tapes = sibling_tapes(tape_of({1, 2}), tape_of({7, 1}), true);

  ASSERT_EQ(tapes.size(), 3U);
  EXPECT_EQ(rules_of(tapes[0]), (Rules{2, 1}));
}

TEST(SiblingTapes, TellsTheOriginsApartThatTwoRunsGave) {
  Tape failing = tape_of({8, 9});
  failing.set_producer(std::int64_t{1} << TapeArgument::kPlaceBits);

  const std::vector<Tape> tapes = sibling_tapes(tape_of({1, 2}, 4), failing, true);

  ASSERT_EQ(tapes.size(), 2U);
  EXPECT_EQ(tapes[0].step(0).origin, 4U);
  EXPECT_EQ(tapes[0].step(1).origin, 6U);
  EXPECT_EQ(tapes[0].arguments(tapes[0].last_step())[0].producer, TapeArgument::kNoProducer);
}

TEST(SiblingTapes, TriesNothingThatIsLongerOrTheSame) {
  EXPECT_TRUE(sibling_tapes(tape_of({1, 2, 3}), tape_of({4, 5}), true).empty());
  EXPECT_TRUE(sibling_tapes(tape_of({1}), tape_of({1}), true).empty());
  EXPECT_TRUE(sibling_tapes(Tape(), tape_of({1}), true).empty());
  EXPECT_TRUE(sibling_tapes(tape_of({1}), Tape(), true).empty());
}

TEST(SiblingTapes, TriesABoundedNumber) {
  const Rules many(100, 1);
  EXPECT_EQ(sibling_tapes(tape_of(many), tape_of(Rules(100, 2)), true).size(), kExchangesMax);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
