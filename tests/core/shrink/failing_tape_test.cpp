// The order of tapes: what counts more than what.
#include "core/shrink/failing_tape.h"

#include <gtest/gtest.h>

#include <compare>
#include <cstdint>
#include <map>
#include <string>

#include "failing_tapes.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

std::weak_ordering order_of(const Tape& left, const Tape& right) {
  return rank_order(FailingTape(left), FailingTape(right));
}

std::weak_ordering order_of_texts(const std::string& left, const std::string& right) {
  return order_of(tape_of(left), tape_of(right));
}

TEST(RankOrder, FewerStepsCountMost) {
  EXPECT_TRUE(order_of_texts("1", "ab") < 0);
  EXPECT_TRUE(order_of(step_with(list_of({9, 9, 9})), steps_with({{}, {}})) < 0);
}

TEST(RankOrder, SmallerWindowsCountNext) {
  EXPECT_TRUE(order_of_texts("a1b", "1ab") < 0);
  EXPECT_TRUE(order_of_texts("1a-1b", "1ab-1") < 0);
  EXPECT_TRUE(order_of_texts("ab-1", "1ab") < 0);
  // A needless end of a fault is a step.
  EXPECT_TRUE(order_of_texts("1a", "1a-1") < 0);
  // Each fault counts, and one that is on already does not count twice.
  EXPECT_EQ(fault_windows_of(tape_of("11a")), 3U);
  EXPECT_EQ(fault_windows_of(tape_of("12a")), 5U);
  EXPECT_EQ(fault_windows_of(tape_of("-1a")), 0U);
}

TEST(RankOrder, FewerChoicesCountNextAndThenTheFirstThatDiffers) {
  EXPECT_TRUE(order_of(step_with({Choice::integer(99)}), step_with(list_of({0}))) < 0);
  EXPECT_TRUE(order_of(step_with(list_of({0, 9})), step_with(list_of({1, 0}))) < 0);
  EXPECT_TRUE(order_of(step_with(list_of({1})), step_with(list_of({1}))) == 0);
}

TEST(RankOrder, GoesByTheConstraintsOfItsOwnTape) {
  const Tape tape = step_with({Choice::integer(100)});
  const FailingTape bounded(tape, {{.low = 100, .high = 200, .simplest = 100}});
  EXPECT_TRUE(rank_order(bounded, FailingTape(tape)) < 0);
  EXPECT_TRUE(rank_order(FailingTape(tape), bounded) > 0);
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

// Wherever Tape::hash() tells tapes apart.
TEST(FailingTape, FingerprintsDifferWhereReplaysMay) {
  Rng rng(3);
  std::map<std::uint64_t, std::uint64_t> hash_of_print;
  for (int i = 0; i < 3'000; ++i) {
    const Tape tape = random_tape(rng, rng.below(6), 3);
    const auto [seen, is_new] = hash_of_print.emplace(fingerprint_of(tape), tape.hash());
    EXPECT_EQ(seen->second, tape.hash());
  }
  EXPECT_NE(fingerprint_of(step_with(list_of({1, 2}))), fingerprint_of(step_with(list_of({2, 1}))));
  EXPECT_NE(fingerprint_of(steps_with({{Choice::integer(1)}, {}})),
            fingerprint_of(steps_with({{}, {Choice::integer(1)}})));
  EXPECT_NE(fingerprint_of(step_with({Choice::text("a")})), fingerprint_of(step_with({Choice::bytes("a")})));
  EXPECT_EQ(fingerprint_of(tape_of("ab").subset({false, true})), fingerprint_of(tape_of("b")));
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
