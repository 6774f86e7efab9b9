#include "core/shrink/shrink_merges.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/shrink/choice_edits.h"
#include "core/shrink/shrink_steps.h"

namespace ordeal {
namespace {

// Whether two steps have the same rule. Initialize rules run once and cannot be merged.
bool is_of_rule(const TapeStep& step, const TapeStep& other) noexcept {
  return step.kind == StepKind::kRule && other.kind == StepKind::kRule && step.target == other.target;
}

// Other steps with the rule of the step at `at`: later ones, then earlier ones, the nearest first.
std::vector<std::size_t> others_of_rule(const Tape& tape, std::size_t at) {
  std::vector<std::size_t> found;
  for (std::size_t i = at + 1; i < tape.size(); ++i) {
    if (is_of_rule(tape.step(at), tape.step(i))) {
      found.push_back(i);
    }
  }
  for (std::size_t i = at; i-- > 0;) {
    if (is_of_rule(tape.step(at), tape.step(i))) {
      found.push_back(i);
    }
  }
  return found;
}

// By index, the integers of a step except references.
std::vector<std::size_t> integers_of(const Tape& tape, const TapeStep& step) {
  std::vector<std::size_t> found;
  for (const TapeArgument& argument : tape.arguments(step)) {
    for (std::size_t i = argument.choices_begin; i < argument.choices_end && !is_reference(argument); ++i) {
      if (tape.choices()[i].kind == ChoiceKind::kInteger && !tape.choices()[i].is_big()) {
        found.push_back(i);
      }
    }
  }
  return found;
}

// Of all other steps, in order.
std::vector<std::size_t> integers_beside(const Tape& tape, std::size_t at) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < tape.size(); ++i) {
    const std::vector<std::size_t> integers = i == at ? std::vector<std::size_t>() : integers_of(tape, tape.step(i));
    found.insert(found.end(), integers.begin(), integers.end());
  }
  return found;
}

// Adds the integer `amount` to the choices at `into` as far as their bounds allow; returns whether any changed.
bool pour(Tape& tape, const FailingTape& current, std::int64_t amount, const std::vector<std::size_t>& into) {
  const bool up = amount > 0;
  auto left = up ? static_cast<std::uint64_t>(amount) : -static_cast<std::uint64_t>(amount);
  bool poured = false;
  for (const std::size_t index : into) {
    const std::int64_t value = tape.choices()[index].number;
    const std::uint64_t taken = std::min(left, room_of(value, up, current.constraints[index]));
    if (taken > 0) {
      const auto start = static_cast<std::uint64_t>(value);
      tape.replace_choice(index, Choice::integer(static_cast<std::int64_t>(up ? start + taken : start - taken)));
      left -= taken;
      poured = true;
    }
  }
  return poured;
}

// Without step `at`, whose integers are added to those at the same position in other steps of its rule.
std::optional<Tape> merged_in_rule(const FailingTape& current, std::size_t at) {
  Tape tape = current.tape;
  const std::vector<std::size_t> given = integers_of(tape, tape.step(at));
  const std::vector<std::size_t> others = others_of_rule(tape, at);
  bool poured = false;
  for (std::size_t place = 0; place < given.size() && !others.empty(); ++place) {
    std::vector<std::size_t> into;
    for (const std::size_t other : others) {
      const std::vector<std::size_t> taking = integers_of(tape, tape.step(other));
      if (place < taking.size()) {
        into.push_back(taking[place]);
      }
    }
    poured = pour(tape, current, current.choice(given[place]).number, into) || poured;
  }
  return poured ? std::optional(without_steps(tape, at, at + 1)) : std::nullopt;
}

// Without step `at`, whose integers are added to any others.
std::optional<Tape> merged_anywhere(const FailingTape& current, std::size_t at) {
  Tape tape = current.tape;
  const std::vector<std::size_t> into = integers_beside(tape, at);
  bool poured = false;
  for (const std::size_t index : integers_of(tape, tape.step(at))) {
    poured = pour(tape, current, current.choice(index).number, into) || poured;
  }
  return poured ? std::optional(without_steps(tape, at, at + 1)) : std::nullopt;
}

// Lists end with a "go on" of false.
bool is_list(std::span<const Choice> choices) noexcept {
  return choices.size() > 1 && choices.back() == Choice::boolean(false);
}

// Without the step `from`, whose lists begin those of the step `into`, which has the same arguments.
std::optional<Tape> with_lists_joined(const Tape& tape, std::size_t from, std::size_t into) {
  ORDEAL_DCHECK(from != into, "a step that is joined with itself");
  const std::span<const TapeArgument> given = tape.arguments(tape.step(from));
  Tape joined;
  bool any = false;
  for (std::size_t i = 0; i < tape.size(); ++i) {
    if (i != into) {
      joined.append(tape, tape.step(i));
      continue;
    }
    joined.begin_step(tape.step(i).kind, tape.step(i).target, tape.step(i).origin);
    for (const TapeArgument& argument : tape.arguments(tape.step(i))) {
      joined.begin_argument(argument.name);
      joined.set_producer(argument.producer);
      const auto same = std::ranges::find(given, argument.name, &TapeArgument::name);
      if (same != given.end() && is_list(tape.choices(*same)) && is_list(tape.choices(argument))) {
        std::ranges::for_each(tape.choices(*same).first(tape.choices(*same).size() - 1),
                              [&](const Choice& choice) { joined.add(choice); });
        any = true;
      }
      std::ranges::for_each(tape.choices(argument), [&](const Choice& choice) { joined.add(choice); });
    }
  }
  return any ? std::optional(without_steps(joined, from, from + 1)) : std::nullopt;
}

// Only into a later step: the lists of the earlier one come first, as before.
std::optional<Tape> with_lists_merged(const FailingTape& current, std::size_t at) {
  const std::vector<std::size_t> others = others_of_rule(current.tape, at);
  return others.empty() || others.front() < at ? std::nullopt : with_lists_joined(current.tape, at, others.front());
}

}  // namespace

// At most one of the three ways is accepted for a step, which is then gone.
SearchCoroutine<Tape> MergeSteps::candidates(const FailingTape& current) {
  const Tape& tape = current.tape;
  if (swept_ == hash_of_steps(tape)) {
    co_return;
  }
  for (std::size_t at = tape.size(); at-- > 0;) {
    bool merged = false;
    for (const auto merge : {&merged_in_rule, &merged_anywhere, &with_lists_merged}) {
      const bool may_go = !merged && at < tape.size() && tape.step(at).kind == StepKind::kRule;
      std::optional<Tape> candidate = may_go ? merge(current, at) : std::nullopt;
      if (candidate) {
        merged = co_yield std::move(*candidate);
      }
    }
  }
  swept_ = hash_of_steps(tape);
}

}  // namespace ordeal
