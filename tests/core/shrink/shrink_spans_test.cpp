// The passes over spans, each on what it is for: what is left, and that nothing else is asked.
#include "core/shrink/shrink_spans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "failing_tapes.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

// A list with a span for each element.
FailingTape failing_list(const Integers& elements) {
  std::vector<Span> spans;
  for (std::uint32_t i = 0; i < elements.size(); ++i) {
    spans.push_back({2 * i, (2 * i) + 2});
  }
  return FailingTape(step_with(list_of(elements)), {}, spans);
}

// What is left of a list, with the spans of its elements.
Tape list_left_by(ShrinkPass& pass, FailingTape current, const Predicate& fails) {
  auto search = pass.candidates(current);
  while (auto candidate = search.next()) {
    const bool accepted = fails(*candidate) && *candidate == step_with(list_of(integers_of(*candidate)));
    if (accepted) {
      current = failing_list(integers_of(*candidate));
    }
    search.accept(accepted);
  }
  return current.tape;
}

TEST(DeleteSpans, ElementsOfAListGo) {
  DeleteSpans pass;
  const Tape left = list_left_by(pass, failing_list({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}), [](const Tape& tape) {
    const Integers left_over = integers_of(tape);
    return std::ranges::count(left_over, 5) == 1 && std::ranges::count(left_over, 9) == 1;
  });
  EXPECT_EQ(left, step_with(list_of({5, 9})));
}

TEST(DeleteSpans, AWholeArgumentBecomesTheSimplest) {
  DeleteSpans pass;
  const Tape left = left_by(pass, tape_of_integers({5, 6, 7}),
                            [](const Tape& tape) { return !tape.choices(tape.arguments()[1]).empty(); });
  EXPECT_EQ(left, steps_with({{}, {Choice::integer(6)}, {}}));
}

TEST(DeleteSpans, ChoicesWithoutASpanGoOneByOne) {
  DeleteSpans pass;
  const Tape left =
      left_by(pass, step_with({Choice::integer(1), Choice::text("a"), Choice::integer(2)}),
              [](const Tape& tape) { return std::ranges::count(tape.choices(), Choice::text("a")) == 1; });
  EXPECT_EQ(left, step_with({Choice::text("a")}));
}

TEST(DeleteSpans, WhatWasSweptIsOnlyTriedAgainWhereItSaysLittle) {
  DeleteSpans pass;
  EXPECT_FALSE(candidates(pass, failing_list({1, 2, 3}), never).asked.empty());
  // Each pair has two values that are not the simplest, so only single choices go again.
  const FailingTape pairs(step_with({Choice::integer(1), Choice::integer(2), Choice::integer(3), Choice::integer(4)}),
                          {}, {{0, 2}, {2, 4}});
  EXPECT_EQ(candidates(pass, pairs, never).asked.size(), 9U);
  EXPECT_EQ(candidates(pass, pairs, never).asked.size(), 4U);
}

TEST(DeleteSpans, AListThatIsAsShortAsItMayBeIsLeft) {
  // Another draw takes the place of each that was removed, so that there are always as many.
  DeleteSpans pass;
  FailingTape current(step_with(std::vector<Choice>(64, Choice::integer(7))));
  std::size_t asked = 0;
  auto search = pass.candidates(current);
  while (auto candidate = search.next()) {
    ++asked;
    search.accept(true);
  }
  EXPECT_EQ(asked, 1U);
}

TEST(ReplaceByInner, ATreeBecomesOneOfItsBranches) {
  const Choice more = Choice::boolean(true);
  const Choice end = Choice::boolean(false);
  const Tape inner = step_with({more, Choice::integer(7), end});
  ReplaceByInner pass;
  const FailingTape nested(step_with({more, more, Choice::integer(7), end, end}), {}, {{0, 4}, {1, 4}});
  EXPECT_EQ(candidates(pass, nested, [&](const Tape& tape) { return tape == inner; }).left.tape, inner);
  const FailingTape other(step_with({Choice::integer(1), more, end}), {}, {{1, 3}});
  EXPECT_TRUE(candidates(pass, other, never).asked.empty());
}

TEST(SortSpans, ElementsAreSortedAtOnceOrOneByOne) {
  SortSpans pass;
  const auto has_all = [](const Tape& tape) {
    Integers integers = integers_of(tape);
    std::ranges::sort(integers);
    return integers == Integers{1, 2, 3};
  };
  EXPECT_EQ(list_left_by(pass, failing_list({3, 2, 1}), has_all), step_with(list_of({1, 2, 3})));
  const Predicate ends_with_one = [&](const Tape& tape) { return has_all(tape) && integers_of(tape).back() == 1; };
  EXPECT_EQ(list_left_by(pass, failing_list({3, 2, 1}), ends_with_one), step_with(list_of({2, 3, 1})));
}

TEST(SortSpans, ArgumentsOfStepsOfOneRuleAreSwapped) {
  SortSpans pass;
  const auto is_zero_and_one = [](const Tape& tape) {
    const Integers integers = integers_of(tape);
    return integers == Integers{1, 0} || integers == Integers{0, 1};
  };
  EXPECT_EQ(integers_of(left_by(pass, tape_of_integers({1, 0}), is_zero_and_one)), (Integers{0, 1}));
  EXPECT_EQ(integers_of(left_by(pass, tape_of_integers({0, 1}), is_zero_and_one)), (Integers{0, 1}));
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
