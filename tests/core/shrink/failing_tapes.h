// Tapes for the tests of the shrinker, written and read as text, and the loop that asks a pass or a shrinker.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/rng.h"
#include "core/shrink/failing_tape.h"
#include "core/shrink/shrink_pass.h"
#include "core/tape/choice_rank.h"
#include "core/tape/tape.h"

namespace ordeal {

using Integers = std::vector<std::int64_t>;
using Predicate = std::function<bool(const Tape&)>;

inline bool never(const Tape& /*tape*/) { return false; }

// A letter is a rule, a digit switches that fault on, a digit behind a minus switches it off.
inline Tape tape_of(std::string_view text) {
  Tape tape;
  for (std::size_t i = 0; i < text.size(); ++i) {
    StepKind kind = StepKind::kRule;
    if (text[i] == '-') {
      kind = StepKind::kFaultOff;
      ++i;
    } else if (text[i] >= '0' && text[i] <= '9') {
      kind = StepKind::kFaultOn;
    }
    const int target = kind == StepKind::kRule ? text[i] : text[i] - '0';
    tape.begin_step(kind, static_cast<std::uint32_t>(target), static_cast<std::uint32_t>(tape.size()));
  }
  return tape;
}

inline std::string text_of(const Tape& tape) {
  std::string text;
  for (const TapeStep& step : tape.steps()) {
    text += step.kind == StepKind::kFaultOff ? "-" : "";
    text +=
        static_cast<char>(is_fault(step.kind) ? '0' + static_cast<int>(step.target) : static_cast<int>(step.target));
  }
  return text;
}

// Steps of rule 0 with one argument each, which has these choices.
inline Tape steps_with(const std::vector<std::vector<Choice>>& steps) {
  Tape tape;
  for (const std::vector<Choice>& choices : steps) {
    tape.begin_step(StepKind::kRule, 0, static_cast<std::uint32_t>(tape.size()));
    tape.begin_argument(1);
    for (const Choice& choice : choices) {
      tape.add(choice);
    }
  }
  return tape;
}

inline Tape step_with(const std::vector<Choice>& choices) { return steps_with({choices}); }

inline Tape tape_of_integers(const Integers& integers) {
  std::vector<std::vector<Choice>> steps;
  for (const std::int64_t integer : integers) {
    steps.push_back({Choice::integer(integer)});
  }
  return steps_with(steps);
}

// The choices of a list of integers as Hypothesis draws it: whether it goes on, and an element.
inline std::vector<Choice> list_of(const Integers& elements) {
  std::vector<Choice> choices;
  for (const std::int64_t element : elements) {
    choices.push_back(Choice::boolean(true));
    choices.push_back(Choice::integer(element));
  }
  choices.push_back(Choice::boolean(false));
  return choices;
}

// All integers of the tape.
inline Integers integers_of(const Tape& tape) {
  Integers integers;
  for (const Choice& choice : tape.choices()) {
    if (choice.kind == ChoiceKind::kInteger) {
      integers.push_back(choice.number);
    }
  }
  return integers;
}

// Rules 0..below, each with a few choices of all kinds, and toggles of three faults, in equal parts.
inline Tape random_tape(Rng& rng, std::size_t size, std::uint32_t below) {
  Tape tape;
  while (tape.size() < size) {
    const auto origin = static_cast<std::uint32_t>(tape.size());
    if (rng.below(2) != 0) {
      tape.begin_step(rng.below(2) == 0 ? StepKind::kFaultOn : StepKind::kFaultOff,
                      static_cast<std::uint32_t>(rng.below(3)), origin);
      continue;
    }
    tape.begin_step(StepKind::kRule, static_cast<std::uint32_t>(rng.below(below)), origin);
    tape.begin_argument(1);
    for (std::uint64_t i = rng.below(4); i > 0; --i) {
      const std::vector<Choice> some{Choice::boolean(rng.below(2) == 0), Choice::integer(rng.between(-50, 1000)),
                                     Choice::real(static_cast<double>(rng.between(-9, 99)) / 4),
                                     Choice::text(std::string(rng.below(4), 'x')), Choice::bytes("\x01\x02")};
      tape.add(some[rng.below(some.size())]);
    }
  }
  return tape;
}

// Sweeps the pass once over tapes that run as they are asked about; the tapes that were asked about, and what is left.
struct Swept {
  std::vector<Tape> asked;
  FailingTape left;
};

inline Swept candidates(ShrinkPass& pass, FailingTape failing, const Predicate& fails) {
  Swept swept{{}, std::move(failing)};
  auto inquiry = pass.candidates(swept.left);
  while (auto candidate = inquiry.next()) {
    swept.asked.push_back(*candidate);
    const bool accepted = fails(*candidate);
    if (accepted) {
      std::vector<Constraint> constraints = swept.left.constraints;
      constraints.resize(candidate->choice_count());
      swept.left = FailingTape(std::move(*candidate), std::move(constraints));
    }
    inquiry.accept(accepted);
  }
  return swept;
}

inline Tape left_by(ShrinkPass& pass, const Tape& tape, const Predicate& fails) {
  return candidates(pass, FailingTape(tape), fails).left.tape;
}

}  // namespace ordeal
