#include "core/shrink/shrink_merges.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/shrink/choice_edits.h"
#include "core/shrink/shrink_steps.h"
#include "core/tape/choice_rank.h"

namespace ordeal {
namespace {

// Whether two steps have the same rule. Initialize rules run once and cannot be merged.
bool is_of_rule(const TapeStep& step, const TapeStep& other) noexcept {
  return step.kind == StepKind::kRule && other.kind == StepKind::kRule && step.target == other.target;
}

// Other steps with the rule of the step at `at`: later ones, then earlier ones, the nearest first.
std::vector<std::size_t> others_of_rule(const Tape& tape, std::size_t at) {
  ORDEAL_DCHECK(at < tape.size(), "step " << at << " of " << tape.size());
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

// Of the steps from `first` on but the one at `at`, in order.
std::vector<std::size_t> integers_beside(const Tape& tape, std::size_t first, std::size_t at) {
  std::vector<std::size_t> found;
  for (std::size_t i = first; i < tape.size(); ++i) {
    const std::vector<std::size_t> integers = i == at ? std::vector<std::size_t>() : integers_of(tape, tape.step(i));
    found.insert(found.end(), integers.begin(), integers.end());
  }
  return found;
}

// Adds the integer `amount` to the choices at `into` as far as their bounds allow; returns whether any changed.
bool pour(Tape& tape, const FailingTape& current, std::int64_t amount, const std::vector<std::size_t>& into) {
  const bool up = amount > 0;
  auto left = up ? static_cast<std::uint64_t>(amount) : -static_cast<std::uint64_t>(amount);
  ORDEAL_DCHECK(current.constraints.size() == tape.choice_count(), "constraints of another tape");
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

// Without step `at`, whose integers are added to others: `into` names those that take the one at a place.
template <typename Into>
std::optional<Tape> merged(const FailingTape& current, std::size_t at, const Into& into) {
  Tape tape = current.tape;
  const std::vector<std::size_t> given = integers_of(tape, tape.step(at));
  bool poured = false;
  for (std::size_t place = 0; place < given.size(); ++place) {
    poured = pour(tape, current, current.choice(given[place]).number, into(place)) || poured;
  }
  return poured ? std::optional(without_steps(tape, at, at + 1)) : std::nullopt;
}

// Into those at the same place in other steps of its rule.
std::optional<Tape> merged_in_rule(const FailingTape& current, std::size_t at) {
  return merged(current, at, [&, others = others_of_rule(current.tape, at)](std::size_t place) {
    std::vector<std::size_t> into;
    for (const std::size_t other : others) {
      const std::vector<std::size_t> taking = integers_of(current.tape, current.tape.step(other));
      if (place < taking.size()) {
        into.push_back(taking[place]);
      }
    }
    return into;
  });
}

// Into any others.
std::optional<Tape> merged_anywhere(const FailingTape& current, std::size_t at) {
  const std::vector<std::size_t> into = integers_beside(current.tape, 0, at);
  return merged(current, at, [&](std::size_t /*place*/) -> const std::vector<std::size_t>& { return into; });
}

// Lists end with a "go on" of false.
bool is_list(std::span<const Choice> choices) noexcept {
  return choices.size() > 1 && choices.back() == Choice::boolean(false);
}

bool holds_text(const Choice& choice) noexcept {
  return choice.kind == ChoiceKind::kString || choice.kind == ChoiceKind::kBytes;
}

// Each text behind the one that was given in its place.
std::optional<std::vector<Choice>> with_texts_joined(std::span<const Choice> given, std::span<const Choice> own) {
  if (!std::ranges::equal(given, own, {}, &Choice::kind, &Choice::kind)) {
    return std::nullopt;
  }
  std::vector<Choice> joined;
  bool any = false;
  for (std::size_t i = 0; i < own.size(); ++i) {
    joined.push_back(own[i]);
    if (holds_text(own[i]) && !given[i].blob().empty()) {
      std::string whole = given[i].blob() + own[i].blob();
      joined.back() =
          own[i].kind == ChoiceKind::kString ? Choice::text(std::move(whole)) : Choice::bytes(std::move(whole));
      any = true;
    }
  }
  return any ? std::optional(std::move(joined)) : std::nullopt;
}

// What an argument draws if it puts the value of another argument of its name before its own: lists and texts.
std::optional<std::vector<Choice>> joined_choices(std::span<const Choice> given, std::span<const Choice> own) {
  if (!is_list(given) || !is_list(own)) {
    return with_texts_joined(given, own);
  }
  std::vector<Choice> joined(given.begin(), given.end() - 1);
  joined.insert(joined.end(), own.begin(), own.end());
  return joined;
}

// Without the step `from`, whose lists and texts begin those of the step `into`, which has the same arguments.
std::optional<Tape> with_sequences_joined(const Tape& tape, std::size_t from, std::size_t into) {
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
      const std::span<const Choice> own = tape.choices(argument);
      const auto longer = same == given.end() ? std::nullopt : joined_choices(tape.choices(*same), own);
      for (const Choice& choice : longer ? std::span<const Choice>(*longer) : own) {
        joined.add(choice);
      }
      any = any || longer.has_value();
    }
  }
  return any ? std::optional(without_steps(joined, from, from + 1)) : std::nullopt;
}

// Only into a later step: the sequences of the earlier one come first, as before.
std::optional<Tape> with_sequences_merged(const FailingTape& current, std::size_t at) {
  const std::vector<std::size_t> others = others_of_rule(current.tape, at);
  return others.empty() || others.front() < at ? std::nullopt : with_sequences_joined(current.tape, at, others.front());
}

// What an integer may become: one closer to its simplest value, and where it selects one of a few, anything simpler.
std::vector<Choice> lower_integers(const Choice& now, const Constraint& constraint) {
  const std::uint64_t distance = distance_of(now, constraint);
  ORDEAL_DCHECK(distance > 0, "the simplest integer has none below it");
  const auto at = [&](std::uint64_t less) { return integer_at(less, now.number < constraint.simplest, constraint); };
  std::vector<Choice> lower{at(distance - 1)};
  const bool is_any = constraint.selects && distance <= RemoveAndLower::kBranchesMax;
  for (std::uint64_t less = 0; is_any && less + 1 < distance; ++less) {
    lower.push_back(at(less));
  }
  return lower;
}

// What a text may become: one shorter, half as long, and where it is short, any shorter beginning of it.
std::vector<Choice> beginnings_of(const Choice& now, const Constraint& constraint) {
  const std::u32string row = row_of(now, constraint);
  const auto least = static_cast<std::size_t>(std::max<std::int64_t>(constraint.low, 0));
  std::vector<Choice> shorter;
  for (std::size_t size = row.size(); size-- > least;) {
    if (size + 1 == row.size() || size == row.size() / 2 || row.size() <= RemoveAndLower::kTextMax) {
      shorter.push_back(text_of(row.substr(0, size), now.kind, constraint));
    }
  }
  return shorter;
}

// The choices that a step can take in place of one while another step goes; none where it is the simplest.
std::vector<Choice> lower_choices(const FailingTape& current, std::size_t index) {
  const Choice& now = current.choice(index);
  if (holds_text(now)) {
    return beginnings_of(now, current.constraints[index]);
  }
  return is_open_integer(current, index) ? lower_integers(now, current.constraints[index]) : std::vector<Choice>();
}

// Whether a choice of the step `step` may be lowered when the step `at` goes. What selects or is a text may depend on
// any step before it or behind it; a count mostly is that of the next step or of the one that fails.
bool may_follow(const FailingTape& current, std::size_t at, std::size_t step, std::size_t index) {
  if (holds_text(current.choice(index))) {
    return step != at;
  }
  const bool is_near = step == at + 1 || step + 1 == current.tape.size();
  return step > at && (is_near || current.constraints[index].selects) && is_open_integer(current, index);
}

// By index, what can be lowered when a step goes, the last first.
std::vector<std::size_t> open_beside(const FailingTape& current, std::size_t at) {
  std::vector<std::size_t> found;
  for (std::size_t step = 0; step < current.tape.size(); ++step) {
    for (const TapeArgument& argument : current.tape.arguments(current.tape.step(step))) {
      for (std::size_t i = argument.choices_begin; i < argument.choices_end && !is_reference(argument); ++i) {
        if (may_follow(current, at, step, i)) {
          found.push_back(i);
        }
      }
    }
  }
  std::ranges::reverse(found);
  return found;
}

}  // namespace

// At most one of the ways is accepted for a step, which is then gone.
SearchCoroutine<Tape> MergeSteps::candidates(const FailingTape& current) {
  const Tape& tape = current.tape;
  if (swept_ == hash_of_steps(tape)) {
    co_return;
  }
  for (std::size_t at = tape.size(); at-- > 0;) {
    bool is_merged = false;
    for (const auto merge : {&merged_in_rule, &merged_anywhere, &with_sequences_merged}) {
      const bool may_go = !is_merged && at < tape.size() && tape.step(at).kind == StepKind::kRule;
      std::optional<Tape> candidate = may_go ? merge(current, at) : std::nullopt;
      if (candidate) {
        is_merged = co_yield std::move(*candidate);
      }
    }
    const bool may_go = !is_merged && at < tape.size() && tape.step(at).kind == StepKind::kRule;
    const std::vector<std::size_t> behind =
        may_go && tape.size() <= kStepsMax ? integers_beside(tape, at + 1, at) : std::vector<std::size_t>();
    for (std::size_t i = 0; i < std::min(behind.size(), kBehindMax) && !is_merged; ++i) {
      const std::vector<std::size_t> into(1, behind[i]);
      if (std::optional<Tape> candidate =
              merged(current, at, [&](std::size_t /*place*/) -> const std::vector<std::size_t>& { return into; })) {
        is_merged = co_yield std::move(*candidate);
      }
    }
  }
  swept_ = hash_of_steps(tape);
}

// Steps from the end. As soon as one could go, its place is taken by the step before it.
SearchCoroutine<Tape> RemoveAndLower::candidates(const FailingTape& current) {
  const Tape& tape = current.tape;
  std::size_t left = kCandidatesMax;
  for (std::size_t at = tape.size(); at-- > 0 && left > 0;) {
    const std::vector<std::size_t> beside = at < tape.size() ? open_beside(current, at) : std::vector<std::size_t>();
    bool removed = false;
    for (std::size_t i = 0; i < beside.size() && !removed; ++i) {
      const std::vector<Choice> lower = lower_choices(current, beside[i]);
      for (std::size_t k = 0; k < lower.size() && !removed && left > 0; ++k, --left) {
        removed = co_yield without_steps(with_choice(tape, beside[i], lower[k]), at, at + 1);
      }
    }
  }
}

}  // namespace ordeal
