// What a session knows of values: which are worth drawing again, and the runs that are to turn a comparison.
#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/search/session.h"

namespace ordeal {
namespace {

// A run that is to turn a comparison goes on for a little: what it was turned for comes soon.
constexpr std::uint32_t kStepsAfterMax = 8;

}  // namespace

const Tape& Session::tape_to_watch() const {
  const Checkpoint* const checkpoint = checkpoint_to_watch();
  return checkpoint == nullptr ? tape_ : checkpoint->prefix;
}

// Of those that were kept for a new edge, the newest that is older than the one before; then from the newest again.
// Nothing for the run itself.
const Checkpoint* Session::checkpoint_to_watch() const {
  if (operands_.watches_run()) {
    return nullptr;
  }
  const Checkpoint* newest = nullptr;
  const Checkpoint* next = nullptr;
  for (const Checkpoint* checkpoint : corpus_.entries()) {
    if (std::ranges::any_of(checkpoint->shows, [](const Feature& shown) { return shown.kind == FeatureKind::kEdge; })) {
      newest = checkpoint;
      next = checkpoint->id < operands_.watched() ? checkpoint : next;
    }
  }
  return next == nullptr ? newest : next;
}

std::size_t Session::learn_comparisons(std::span<const Comparison> comparisons) {
  ORDEAL_CHECK(!running(), "run " << plan_.run_id << " has not ended");
  const Checkpoint* const checkpoint = checkpoint_to_watch();
  const std::uint64_t id = checkpoint == nullptr ? 0 : checkpoint->id;
  return operands_.learn(tape_to_watch(), id, comparisons, values_);
}

void Session::follow(Tape tape) {
  plan_.steps = std::min(plan_.steps, kStepsAfterMax);
  steps_left_ = plan_.steps;
  sequence_.changed.assign(tape.size(), false);
  sequence_.tape = std::move(tape);
}

void Session::keep_values_of_step() {
  for (const TapeArgument& argument : tape_.arguments(tape_.last_step())) {
    for (const Choice& choice : tape_.choices(argument)) {
      values_.add(ValueShelf::kProductive, choice);
    }
  }
}

}  // namespace ordeal
