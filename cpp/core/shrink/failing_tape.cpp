#include "core/shrink/failing_tape.h"

#include <algorithm>

#include "core/base/rng.h"

namespace ordeal {
namespace {

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

// In the order of the tape, so that an earlier choice decides before a later one.
std::vector<ChoiceRank> ranks_of(const FailingTape& failing) {
  std::vector<ChoiceRank> ranks;
  ranks.reserve(failing.tape.choice_count());
  for (std::size_t i = 0; i < failing.tape.choice_count(); ++i) {
    ranks.push_back(failing.rank(i));
  }
  return ranks;
}

}  // namespace

// O(choices), with an allocation for each text: only accepted tapes are ranked, never proposals.
TapeRank::TapeRank(const FailingTape& failing)
    : steps(failing.tape.size()),
      fault_windows(fault_windows_of(failing.tape)),
      choice_count(failing.tape.choice_count()),
      choices(ranks_of(failing)) {}

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

}  // namespace ordeal
