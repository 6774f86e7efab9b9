#include "core/draw/replay.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace ordeal {
namespace {

// For an argument of a step as it ran; 0 if it drew no such argument.
std::size_t choices_used(const Tape& realized, const TapeStep& step, std::uint32_t name) {
  const std::span<const TapeArgument> arguments = realized.arguments(step);
  const auto found = std::ranges::find(arguments, name, &TapeArgument::name);
  return found == arguments.end() ? 0 : realized.choices(*found).size();
}

}  // namespace

Replay::Replay(Tape tape) : tape_(std::move(tape)), source_(realized_, &notes_) {}

// A step of the tape is proposed once, whether it can run or not.
NextStep Replay::next() {
  proposed_ = position_ < tape_.size();
  if (!proposed_) {
    return {NextKind::kEnd, 0};
  }
  ran_.push_back(position_);
  const TapeStep& step = tape_.step(position_++);
  source_.begin_step(step.kind, step.target, step.origin);
  source_.replay(tape_, step);
  return {next_kind(step.kind), step.target};
}

// Drops the notes of its draws as well: their choices are gone from the written tape.
void Replay::reject() {
  ORDEAL_CHECK(proposed_, "no step to reject at position " << position_);
  proposed_ = false;
  source_.drop_step();
  ran_.pop_back();
  std::erase_if(notes_, [kept = realized_.choice_count()](const auto& note) { return note.first >= kept; });
  ++rejected_;
}

// What the last step of an unfinished run did not use does not count, nor do the draws inside its body: it may have
// failed before.
std::size_t Replay::unused(std::span<const std::uint32_t> in_body, bool finished) const {
  ORDEAL_DCHECK(ran_.size() == realized_.size(), ran_.size() << " steps were proposed, " << realized_.size() << " ran");
  std::size_t unused = 0;
  for (std::size_t i = 0; i < ran_.size(); ++i) {
    const bool is_last = i + 1 == ran_.size();
    for (const TapeArgument& argument : tape_.arguments(tape_.step(ran_[i]))) {
      if (is_last && (!finished || std::ranges::find(in_body, argument.name) != in_body.end())) {
        continue;
      }
      const std::size_t recorded = tape_.choices(argument).size();
      unused += recorded - std::min(recorded, choices_used(realized_, realized_.step(i), argument.name));
    }
  }
  return unused;
}

// By index of the choice; a draw without a note has the default, which means that nothing is known.
std::vector<Constraint> Replay::constraints() const {
  std::vector<Constraint> constraints(realized_.choice_count());
  for (const auto& [choice, constraint] : notes_) {
    if (choice < constraints.size()) {  // a draw may have ended the run before it was recorded
      constraints[choice] = constraint;
    }
  }
  return constraints;
}

}  // namespace ordeal
