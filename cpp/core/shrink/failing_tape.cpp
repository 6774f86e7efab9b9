#include "core/shrink/failing_tape.h"

#include <algorithm>

#include "core/base/rng.h"
#include "core/shrink/choice_edits.h"

namespace ordeal {
namespace {

// What is at a position of a tape, so that sums of these depend on the order.
constexpr std::uint64_t hash_at(std::uint64_t position, std::uint64_t what) noexcept {
  constexpr std::uint64_t kApart = 0xD1B54A32D192ED03ULL;
  return mix64(what + (position * kApart));
}

std::uint64_t hash_at(std::uint64_t position, const Choice& choice) noexcept {
  const std::uint64_t value =
      static_cast<std::uint64_t>(choice.number) ^ (static_cast<std::uint64_t>(choice.kind) << 60U);
  return hash_at(position, choice.blob().empty() ? value : hash_bytes(choice.blob(), value));
}

}  // namespace

// Draws inside a reference say which value of a bundle is taken, and never change here.
FailingTape::FailingTape(Tape failing, std::vector<Constraint> known, std::vector<Span> noted)
    : tape(std::move(failing)), constraints(std::move(known)), spans(std::move(noted)) {
  constraints.resize(tape.choice_count());
  std::erase_if(spans, [&](const Span& span) {
    return span.end > tape.choice_count() || is_reference(argument_of(tape, span.begin));
  });
  for (const TapeArgument& argument : tape.arguments()) {
    if (!is_reference(argument) && argument.choices_begin < argument.choices_end) {
      spans.push_back({argument.choices_begin, argument.choices_end});
    }
  }
  std::ranges::sort(spans);
  const auto repeated = std::ranges::unique(spans);
  spans.erase(repeated.begin(), repeated.end());
}

// A fault that is switched on twice counts as on once.
std::uint64_t fault_windows_of(const Tape& tape) {
  std::vector<std::uint32_t> on;
  std::uint64_t fault_windows = 0;
  for (const TapeStep& step : tape.steps()) {
    if (is_fault(step.kind)) {
      std::erase(on, step.target);
    }
    if (step.kind == StepKind::kFaultOn) {
      on.push_back(step.target);
    }
    fault_windows += on.size();
  }
  return fault_windows;
}

// What people read decides first: steps, then how long faults are on, then how much is drawn. Only tapes that are equal
// in all of these are compared choice by choice, in the order of the tape, so that an earlier choice decides before a
// later one. Total for tapes with constraints, so no sequence of accepted candidates can go round in a circle.
std::weak_ordering rank_order(const FailingTape& left, const FailingTape& right) {
  if (const auto order = left.tape.size() <=> right.tape.size(); order != 0) {
    return order;
  }
  if (const auto order = fault_windows_of(left.tape) <=> fault_windows_of(right.tape); order != 0) {
    return order;
  }
  if (const auto order = left.tape.choice_count() <=> right.tape.choice_count(); order != 0) {
    return order;
  }
  for (std::size_t i = 0; i < left.tape.choice_count(); ++i) {
    if (left.choice(i) == right.choice(i) && left.constraints[i] == right.constraints[i]) {
      continue;
    }
    if (const auto order = left.rank(i) <=> right.rank(i); order != 0) {
      return order;
    }
  }
  return std::weak_ordering::equivalent;
}

// Equal offsets mean equally many arguments and choices in each step.
bool has_same_shape(const Tape& left, const Tape& right) {
  const auto same_step = [](const TapeStep& a, const TapeStep& b) {
    return a.kind == b.kind && a.target == b.target && a.arguments_end == b.arguments_end;
  };
  const auto same_argument = [](const TapeArgument& a, const TapeArgument& b) {
    return a.name == b.name && a.choices_end == b.choices_end;
  };
  const auto same_kind = [](const Choice& a, const Choice& b) { return a.kind == b.kind; };
  return std::ranges::equal(left.steps(), right.steps(), same_step) &&
         std::ranges::equal(left.arguments(), right.arguments(), same_argument) &&
         std::ranges::equal(left.choices(), right.choices(), same_kind);
}

// Without origins: a pass that removed nothing before will remove nothing now.
std::uint64_t hash_of_steps(const Tape& tape) noexcept {
  std::uint64_t h = mix64(tape.size());
  for (const TapeStep& step : tape.steps()) {
    h = mix64(h ^ (static_cast<std::uint64_t>(step.kind) << 32U) ^ step.target);
  }
  return h;
}

// Origins only count if a producer refers to them. Counts are hashed with what they count: otherwise two tapes could
// have the same choices in other steps.
std::uint64_t fingerprint_of(const Tape& tape) noexcept {
  const bool origins_matter = std::ranges::any_of(tape.arguments(), is_reference);
  std::uint64_t h = mix64(tape.size());
  for (std::size_t i = 0; i < tape.size(); ++i) {
    const TapeStep& step = tape.steps()[i];
    const std::uint64_t what = (static_cast<std::uint64_t>(step.kind) << 32U) ^ step.target;
    h += hash_at(i, mix64(what) ^ (std::uint64_t{step.arguments_end} << 32U) ^ (origins_matter ? step.origin : 0U));
  }
  for (std::size_t i = 0; i < tape.arguments().size(); ++i) {
    const TapeArgument& argument = tape.arguments()[i];
    const std::uint64_t what = (std::uint64_t{argument.name} << 32U) ^ argument.choices_end;
    h ^= hash_at(i, mix64(what) ^ static_cast<std::uint64_t>(argument.producer));
  }
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < tape.choice_count(); ++i) {
    sum += hash_at(i, tape.choices()[i]);
  }
  return mix64(h ^ sum);
}

}  // namespace ordeal
