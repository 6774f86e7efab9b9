// What a pass leaves that lowers a choice on which others depend, and raises those.
#include "core/shrink/shrink_choices.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "core/shrink/shrinker.h"
#include "failing_tapes.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

using Integers = std::vector<std::int64_t>;

// What a replay of the tape draws: a number, and as many numbers up to it. What does not fit becomes 0.
FailingTape counted(const Tape& asked) {
  const Integers given = integers_of(asked);
  const auto draw = [&](std::size_t at, std::int64_t high) {
    return at < given.size() && given[at] >= 0 && given[at] <= high ? given[at] : 0;
  };
  std::vector<Constraint> constraints{{0, 9, 0}};
  std::vector<Choice> drawn{Choice::integer(draw(0, 9))};
  const std::int64_t count = drawn.front().number;
  for (std::int64_t i = 1; i <= count; ++i) {
    drawn.push_back(Choice::integer(draw(static_cast<std::size_t>(i), count)));
    constraints.push_back({0, count, 0});
  }
  return FailingTape(steps_with({drawn}), std::move(constraints));
}

// What the whole shrinker leaves.
Integers least(const Integers& from, const std::function<bool(const Integers&)>& fails) {
  std::vector<Choice> choices;
  for (const std::int64_t integer : from) {
    choices.push_back(Choice::integer(integer));
  }
  Shrinker shrinker(steps_with({choices}));
  while (const auto candidate = shrinker.candidate()) {
    const FailingTape ran = counted(*candidate);
    if (fails(integers_of(ran.tape))) {
      shrinker.accept(ran.tape, ran.constraints);
    } else {
      shrinker.refuse(ran.tape, ran.constraints);
    }
  }
  return integers_of(shrinker.current());
}

std::int64_t sum_behind_first(const Integers& values) {
  return std::accumulate(values.begin() + 1, values.end(), std::int64_t{0});
}

TEST(LowerAndMakeUp, FewerValuesThatAreLarger) {
  const auto fails = [](const Integers& values) { return sum_behind_first(values) > 6; };
  EXPECT_EQ(least({5, 0, 1, 2, 2, 2}, fails), (Integers{3, 1, 3, 3}));
  EXPECT_EQ(least({4, 0, 0, 3, 4}, fails), (Integers{3, 1, 3, 3}));
  EXPECT_EQ(least({9, 0, 0, 0, 0, 0, 0, 0, 0, 7}, fails), (Integers{3, 1, 3, 3}));
}

TEST(LowerAndMakeUp, WhatDecidesNothingIsLeftToOtherPasses) {
  LowerAndMakeUp pass;
  const FailingTape pair(steps_with({{Choice::integer(4), Choice::integer(0)}}), {{0, 9, 0}, {0, 9, 0}});
  std::size_t looks = 0;
  std::size_t others = 0;
  auto search = pass.candidates(pair);
  while (const auto candidate = search.next()) {
    (pass.looks() ? looks : others) += 1;
    if (pass.looks()) {
      pass.saw(FailingTape(*candidate, pair.constraints));
    }
  }
  EXPECT_EQ(looks, 1U);
  EXPECT_EQ(others, 0U);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
