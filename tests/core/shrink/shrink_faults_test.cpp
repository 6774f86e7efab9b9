// Which tapes the passes over faults ask about, and how narrow the windows become.
#include "core/shrink/shrink_faults.h"

#include <gtest/gtest.h>

#include <string>

#include "failing_tapes.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

// Whether the fault is on during each step of rule x and off during each step of rule y.
bool is_on_at_x(const Tape& tape) {
  bool on = false;
  bool right = tape.size() > 0;
  for (const TapeStep& step : tape.steps()) {
    on = is_fault(step.kind) && step.target == 1 ? step.kind == StepKind::kFaultOn : on;
    if (step.kind == StepKind::kRule) {
      right = right && (step.target != 'x' || on) && (step.target != 'y' || !on);
    }
  }
  return right;
}

std::string narrowed(const std::string& text, const Predicate& fails) {
  NarrowFaults pass;
  FailingTape now(tape_of(text));
  EXPECT_TRUE(fails(now.tape));
  for (int i = 0; i < 3; ++i) {
    now = candidates(pass, now, [&](const Tape& tape) {
            return rank_order(FailingTape(tape), now) < 0 && fails(tape);
          }).left;
  }
  return text_of(now.tape);
}

TEST(NarrowFaults, SwitchOnLaterAndOffSooner) {
  EXPECT_EQ(narrowed("1abxcdxefghi-1jy", is_on_at_x), "ab1xcdx-1efghijy");
  EXPECT_EQ(narrowed("1abcdefghijklx", is_on_at_x), "abcdefghijkl1x");
  EXPECT_EQ(narrowed("1xabcdefghijkl-1y", is_on_at_x), "1x-1abcdefghijkly");
}

TEST(NarrowFaults, EachWindowOfAFaultIsNarrowed) {
  EXPECT_EQ(narrowed("1abxc-1yd1efxg-1hy", is_on_at_x), "ab1x-1cydef1x-1ghy");
}

TEST(NarrowFaults, WindowsThatMustOverlapDo) {
  const Predicate both_at_x = [](const Tape& tape) {
    return is_on_at_x(tape) && text_of(tape).find("2") < text_of(tape).find('x');
  };
  EXPECT_EQ(narrowed("12abcdx", both_at_x), "abcd21x");
}

TEST(NarrowFaults, AWindowThatCannotBeNarrowedCostsFourCandidates) {
  NarrowFaults pass;
  EXPECT_EQ(
      candidates(pass, FailingTape(tape_of("1abcdefgh-1i")), [](const Tape& /*tape*/) { return false; }).asked.size(),
      4U);
  EXPECT_TRUE(candidates(pass, FailingTape(tape_of("1x")), [](const Tape& /*tape*/) { return false; }).asked.empty());
  EXPECT_TRUE(candidates(pass, FailingTape(tape_of("abc")), [](const Tape& /*tape*/) { return false; }).asked.empty());
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
