#include "core/shrink/shrink_references.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <tsl/robin_set.h>

#include "core/base/check.h"
#include "core/shrink/choice_edits.h"

namespace ordeal {
namespace {

constexpr std::size_t kReferencesMax = 8;  // how many are tried against each other

// In the order of their first use.
std::vector<std::int64_t> producers_of(const Tape& tape) {
  std::vector<std::int64_t> producers;
  for (const TapeArgument& argument : tape.arguments()) {
    if (is_reference(argument) && std::ranges::find(producers, argument.producer) == producers.end()) {
      producers.push_back(argument.producer);
    }
  }
  return producers;
}

// The origin of the step that made the value.
std::uint64_t origin_of(std::int64_t producer) noexcept {
  return static_cast<std::uint64_t>(producer) >> static_cast<unsigned>(TapeArgument::kPlaceBits);
}

using Numbers = tsl::robin_set<std::uint64_t>;

// The rule of a step, as a number.
std::uint64_t rule_of(const TapeStep& step) noexcept {
  return (static_cast<std::uint64_t>(step.kind) << 32U) | step.target;
}

// The rules of the steps that make what others take.
Numbers rules_with_values(const Tape& tape) {
  Numbers taken;
  for (const TapeArgument& argument : tape.arguments()) {
    if (is_reference(argument)) {
      taken.insert(origin_of(argument.producer));
    }
  }
  Numbers rules;
  for (const TapeStep& step : tape.steps()) {
    if (taken.contains(step.origin)) {
      rules.insert(rule_of(step));
    }
  }
  return rules;
}

// `to` replaces `from`, and the step that made `from` is removed, unless it made `to` as well.
Tape with_references_merged(const Tape& tape, std::int64_t from, std::int64_t to) {
  ORDEAL_DCHECK(from != to, "a value that is merged with itself");
  Tape merged = tape;
  for (std::size_t i = 0; i < tape.arguments().size(); ++i) {
    if (tape.arguments()[i].producer == from) {
      merged.replace_producer(i, to);
    }
  }
  std::vector<bool> keep;
  for (const TapeStep& step : tape.steps()) {
    keep.push_back(step.origin != origin_of(from) || origin_of(from) == origin_of(to));
  }
  ORDEAL_DCHECK(keep.size() == merged.size(), "marks for " << keep.size() << " of " << merged.size() << " steps");
  return merged.subset(keep);
}

// Position 0 is the newest value, and the simplest. Without a producer the replay uses the position.
SearchCoroutine<Tape> newest_references(const FailingTape& current) {
  const Tape& tape = current.tape;
  for (std::size_t a = 0; a < tape.arguments().size(); ++a) {
    const TapeArgument argument = tape.arguments()[a];
    if (!is_reference(argument) || tape.choices(argument).size() != 1 || current.is_simplest(argument.choices_begin)) {
      continue;
    }
    Tape candidate = with_choice(tape, argument.choices_begin, Choice::integer(0));
    candidate.replace_producer(a, TapeArgument::kNoProducer);
    const bool accepted = co_yield std::move(candidate);
    static_cast<void>(accepted);
  }
}

// The steps that take the value, in order. The last step of a tape fails, and is none of them.
std::vector<std::size_t> uses_of(const Tape& tape, std::int64_t producer) {
  std::vector<std::size_t> uses;
  for (std::size_t i = 0; i + 1 < tape.size(); ++i) {
    if (std::ranges::find(tape.arguments(tape.step(i)), producer, &TapeArgument::producer) !=
        tape.arguments(tape.step(i)).end()) {
      uses.push_back(i);
    }
  }
  return uses;
}

// Without the uses behind the one numbered `kept`, which moves to the place of the one numbered `at`.
Tape with_use_moved(const Tape& tape, const std::vector<std::size_t>& uses, std::size_t kept, std::size_t at) {
  ORDEAL_DCHECK(kept <= at && at < uses.size(), "use " << kept << " at " << at << " of " << uses.size());
  Tape moved;
  for (std::size_t i = 0; i < tape.size(); ++i) {
    const auto use = std::ranges::find(uses, i);
    const auto number = static_cast<std::size_t>(use - uses.begin());
    if (number == at) {
      moved.append(tape, tape.step(uses[kept]));
    } else if (use == uses.end() || number < kept) {
      moved.append(tape, tape.step(i));
    }
  }
  return moved;
}

}  // namespace

// From the end, so that what only unused values are made of is unused as well. The last step fails, and stays.
SearchCoroutine<Tape> RemoveUnused::candidates(const FailingTape& current) {
  const Tape& tape = current.tape;
  const Numbers rules = rules_with_values(tape);
  Numbers taken;
  std::vector<bool> keep(tape.size(), true);
  for (std::size_t i = tape.size(); i-- > 0;) {
    const TapeStep& step = tape.step(i);
    keep[i] = taken.contains(step.origin) || i + 1 == tape.size() || !rules.contains(rule_of(step));
    for (const TapeArgument& argument : tape.arguments(step)) {
      if (keep[i] && is_reference(argument)) {
        taken.insert(origin_of(argument.producer));
      }
    }
  }
  if (std::ranges::find(keep, false) != keep.end()) {
    const bool accepted = co_yield tape.subset(keep);
    static_cast<void>(accepted);
  }
}

// Later values become earlier ones, so that the later steps can be removed. After an accepted candidate, producers may
// be gone with their steps.
SearchCoroutine<Tape> MergeReferences::candidates(const FailingTape& current) {
  const std::vector<std::int64_t> producers = producers_of(current.tape);
  for (std::size_t i = producers.size(); i-- > 0;) {
    for (std::size_t j = 0; j < std::min(producers.size(), kReferencesMax); ++j) {
      const std::vector<std::int64_t> left = producers_of(current.tape);
      const auto is_left = [&](std::int64_t producer) { return std::ranges::find(left, producer) != left.end(); };
      if (i != j && is_left(producers[i]) && is_left(producers[j])) {
        const bool accepted = co_yield with_references_merged(current.tape, producers[i], producers[j]);
        static_cast<void>(accepted);
      }
    }
  }
  auto search = newest_references(current);
  while (auto candidate = search.next()) {
    const bool accepted = co_yield std::move(*candidate);
    search.accept(accepted);
  }
}

// The earliest ends first, as they remove most. As soon as one is accepted, the other values have their turn: what is
// left of the first one is tried again in the next round.
SearchCoroutine<Tape> ShortenUses::candidates(const FailingTape& current) {
  const Tape& tape = current.tape;
  if (swept_ == hash_of_steps(tape)) {
    co_return;
  }
  std::size_t left = kCandidatesMax;
  for (const std::int64_t producer : producers_of(tape)) {
    const std::vector<std::size_t> uses = uses_of(tape, producer);
    bool shorter = false;
    for (std::size_t kept = 0; kept + 1 < uses.size() && !shorter; ++kept) {
      for (std::size_t at = uses.size(); at-- > kept && !shorter && left > 0; --left) {
        shorter = co_yield with_use_moved(tape, uses, kept, at);
      }
    }
  }
  swept_ = hash_of_steps(tape);
}

}  // namespace ordeal
