// What a pass leaves that lowers a choice on which others depend, and raises those.
#include "core/shrink/shrink_decisions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/shrink/shrinker.h"
#include "failing_tapes.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

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

// The next choice of a tape, if it is of this kind and fits; else the simplest, and then it stays for the next draw.
class Given {
 public:
  explicit Given(const Tape& asked) : choices_(asked.choices().begin(), asked.choices().end()) {}

  std::int64_t integer(std::int64_t high) {
    const Choice* const choice = next(ChoiceKind::kInteger);
    return choice != nullptr && choice->number >= 0 && choice->number <= high ? choice->number : 0;
  }
  bool boolean() {
    const Choice* const choice = next(ChoiceKind::kBoolean);
    return choice != nullptr && choice->number != 0;
  }
  std::string text() {
    const Choice* const choice = next(ChoiceKind::kString);
    return choice != nullptr ? choice->blob() : "";
  }

 private:
  const Choice* next(ChoiceKind kind) {
    return at_ < choices_.size() && choices_[at_].kind == kind ? &choices_[at_++] : nullptr;
  }

  std::vector<Choice> choices_;
  std::size_t at_ = 0;
};

// What a replay of the tape draws: a number, as many numbers up to it, and more of them while a flag says so.
FailingTape listed(const Tape& asked) {
  Given given(asked);
  const std::int64_t count = given.integer(9);
  std::vector<Choice> drawn{Choice::integer(count)};
  std::vector<Constraint> constraints{{0, 9, 0}};
  for (std::int64_t i = 0; i < 30; ++i) {
    if (i >= count) {
      const bool goes_on = given.boolean();
      drawn.push_back(Choice::boolean(goes_on));
      constraints.emplace_back();
      if (!goes_on) {
        break;
      }
    }
    drawn.push_back(Choice::integer(given.integer(count)));
    constraints.push_back({0, count, 0});
  }
  return FailingTape(steps_with({drawn}), std::move(constraints));
}

// A text, a number, and as many flags.
FailingTape addressed(const Tape& asked) {
  Given given(asked);
  const std::string text = given.text();
  const std::int64_t flags = given.integer(9);
  std::vector<Choice> drawn{Choice::text(text), Choice::integer(flags)};
  std::vector<Constraint> constraints{{0, 20, 0}, {0, 9, 0}};
  for (std::int64_t i = 0; i < flags; ++i) {
    drawn.push_back(Choice::boolean(given.boolean()));
    constraints.emplace_back();
  }
  return FailingTape(steps_with({drawn}), std::move(constraints));
}

// A list of at most two integers, and an integer behind it. A list of two has no choice that ends it.
FailingTape full_list(const Tape& asked) {
  Given given(asked);
  std::vector<Choice> drawn;
  std::vector<Constraint> constraints;
  for (int size = 0; size < 2; ++size) {
    drawn.push_back(Choice::boolean(given.boolean()));
    constraints.emplace_back();
    if (drawn.back().number == 0) {
      break;
    }
    drawn.push_back(Choice::integer(given.integer(9)));
    constraints.push_back({0, 9, 0});
  }
  drawn.push_back(Choice::integer(given.integer(9)));
  constraints.push_back({0, 9, 0});
  return FailingTape(steps_with({drawn}), std::move(constraints));
}

// What the whole shrinker leaves.
Tape least(const std::vector<Choice>& from, const std::function<FailingTape(const Tape&)>& replayed,
           const std::function<bool(const Tape&)>& fails) {
  Shrinker shrinker(steps_with({from}));
  while (const auto candidate = shrinker.candidate()) {
    const FailingTape ran = replayed(*candidate);
    if (fails(ran.tape)) {
      shrinker.accept(ran.tape, ran.constraints);
    } else {
      shrinker.refuse(ran.tape, ran.constraints);
    }
  }
  return shrinker.current();
}

Integers least(const Integers& from, const std::function<bool(const Integers&)>& fails) {
  std::vector<Choice> choices;
  for (const std::int64_t integer : from) {
    choices.push_back(Choice::integer(integer));
  }
  return integers_of(least(choices, counted, [&](const Tape& tape) { return fails(integers_of(tape)); }));
}

std::int64_t sum_behind_first(const Integers& values) {
  return std::accumulate(values.begin() + 1, values.end(), std::int64_t{0});
}

TEST(ChangeDecisions, FewerValuesThatAreLarger) {
  const auto fails = [](const Integers& values) { return sum_behind_first(values) > 6; };
  EXPECT_EQ(least({5, 0, 1, 2, 2, 2}, fails), (Integers{3, 1, 3, 3}));
  EXPECT_EQ(least({4, 0, 0, 3, 4}, fails), (Integers{3, 1, 3, 3}));
  EXPECT_EQ(least({9, 0, 0, 0, 0, 0, 0, 0, 0, 7}, fails), (Integers{3, 1, 3, 3}));
}

TEST(ChangeDecisions, ALengthGoesDownWithWhatItCounts) {
  const auto fails = [](const Integers& values) { return std::ranges::count(values.begin() + 1, values.end(), 3) > 0; };
  EXPECT_EQ(least({5, 1, 4, 2, 3, 1}, fails), (Integers{3, 0, 0, 3}));
}

TEST(ChangeDecisions, AFullListLosesAnElementAndGetsAnEnd) {
  const Choice yes = Choice::boolean(true);
  const auto fails = [](const Tape& tape) {
    const Integers integers = integers_of(tape);
    return integers.front() == 4 && integers.back() == 7;
  };
  EXPECT_EQ(least({yes, Choice::integer(4), yes, Choice::integer(5), Choice::integer(7)}, full_list, fails),
            step_with({yes, Choice::integer(4), Choice::boolean(false), Choice::integer(7)}));
}

TEST(ChangeDecisions, FewerValuesBehindAHigherNumber) {
  const Choice more = Choice::boolean(true);
  std::vector<Choice> from{Choice::integer(2), Choice::integer(0), Choice::integer(1)};
  for (int i = 0; i < 3; ++i) {
    from.insert(from.end(), {more, Choice::integer(2)});
  }
  from.push_back(Choice::boolean(false));
  const auto fails = [](const Tape& tape) {
    Integers values;
    for (const Choice& choice : tape.choices()) {
      values.push_back(choice.kind == ChoiceKind::kInteger ? choice.number : 0);
    }
    return sum_behind_first(values) > 6;
  };
  const Tape left = least(from, listed, fails);
  Integers values;
  for (const Choice& choice : left.choices()) {
    values.push_back(choice.number);
  }
  EXPECT_EQ(values, (Integers{3, 1, 3, 3, 0}));
}

TEST(ChangeDecisions, AnEarlierTextGrowsForFewerChoicesBehindIt) {
  const auto fails = [](const Tape& tape) {
    return tape.choices()[0].blob().size() + static_cast<std::size_t>(tape.choices()[1].number) > 5;
  };
  const Choice flag = Choice::boolean(false);
  const Tape left = least({Choice::text("x"), Choice::integer(5), flag, flag, flag, flag, flag}, addressed, fails);
  EXPECT_EQ(left, steps_with({{Choice::text("000000"), Choice::integer(0)}}));
}

TEST(ChangeDecisions, WhatDecidesNothingIsLeftToOtherPasses) {
  ChangeDecisions pass;
  const FailingTape pair(steps_with({{Choice::integer(4), Choice::integer(0)}}), {{0, 9, 0}, {0, 9, 0}});
  std::size_t looks = 0;
  std::size_t others = 0;
  auto search = pass.candidates(pair);
  while (const auto candidate = search.next()) {
    (pass.wants_outcome() ? looks : others) += 1;
    if (pass.wants_outcome()) {
      pass.observe(FailingTape(*candidate, pair.constraints));
    }
  }
  EXPECT_EQ(looks, 1U) << "lower, and nothing is drawn behind the second";
  EXPECT_EQ(others, 0U);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
