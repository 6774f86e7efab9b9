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

// `faults_on` is empty where it is not needed.
void note_switch(std::vector<bool>& faults_on, NextKind kind, std::uint32_t target) {
  if (target < faults_on.size() && (kind == NextKind::kFaultOn || kind == NextKind::kFaultOff)) {
    faults_on[target] = kind == NextKind::kFaultOn;
  }
}

// An origin that no step of either tape has.
std::uint32_t next_origin(const Tape& recorded, const Tape& realized) {
  const std::uint32_t last = recorded.empty() ? 0 : std::ranges::max(recorded.steps(), {}, &TapeStep::origin).origin;
  return last + 1 + static_cast<std::uint32_t>(realized.size());
}

}  // namespace

Replay::Replay(Tape tape) : tape_(std::move(tape)), source_(realized_, &notes_) {}

Replay::Replay(Tape tape, Continuation continuation)
    : tape_(std::move(tape)),
      continuation_(std::move(continuation)),
      faults_on_(continuation_->shape().faults, false),
      source_(realized_, &notes_) {}

// A step of the tape is proposed once, whether it can run or not.
NextStep Replay::next() {
  proposed_ = position_ < tape_.size();
  if (!proposed_) {
    return continuation_ ? next_random() : NextStep{NextKind::kEnd, 0};
  }
  ran_.push_back(position_);
  const TapeStep& step = tape_.step(position_++);
  source_.begin_step(step.kind, step.target, step.origin);
  source_.replay(tape_, step);
  note_switch(faults_on_, next_kind(step.kind), step.target);
  return {next_kind(step.kind), step.target};
}

// Their origins follow those of the tape, so that no two steps have the same.
NextStep Replay::next_random() {
  if (position_ == tape_.size()) {
    ++position_;
    source_.live(continuation_->values());
  }
  const NextStep next = continuation_->next(faults_on_);
  proposed_ = next.kind != NextKind::kEnd && next.kind != NextKind::kStuck;
  if (proposed_) {
    ran_.push_back(tape_.size());
    source_.begin_step(step_kind(next.kind), next.target, next_origin(tape_, realized_));
    note_switch(faults_on_, next.kind, next.target);
  }
  return next;
}

// Drops the notes of its draws as well: their choices are gone from the written tape.
void Replay::reject() {
  ORDEAL_CHECK(proposed_, "no step to reject at position " << position_);
  proposed_ = false;
  if (ran_.back() == tape_.size()) {
    continuation_->reject();
  }
  source_.drop_step();
  ran_.pop_back();
  const std::size_t kept = realized_.choice_count();
  std::erase_if(notes_.constraints, [kept](const auto& note) { return note.first >= kept; });
  std::erase_if(notes_.spans, [kept](const Span& span) { return span.end > kept; });
  ++rejected_;
}

// What the last step of an unfinished run did not use does not count, nor do the draws inside its body: it may have
// failed before.
std::size_t Replay::unused(std::span<const std::uint32_t> in_body, bool finished) const {
  ORDEAL_DCHECK(ran_.size() == realized_.size(), ran_.size() << " steps were proposed, " << realized_.size() << " ran");
  std::size_t unused = 0;
  for (std::size_t i = 0; i < ran_.size(); ++i) {
    if (ran_[i] == tape_.size()) {
      break;
    }
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
  for (const auto& [choice, constraint] : notes_.constraints) {
    if (choice < constraints.size()) {  // a draw may have ended the run before it was recorded
      constraints[choice] = constraint;
    }
  }
  return constraints;
}

}  // namespace ordeal
