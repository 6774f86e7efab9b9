#include "core/replay.h"

#include <utility>

#include "core/check.h"

namespace ordeal {

Replay::Replay(Tape tape) : tape_(std::move(tape)), source_(realized_) {}

NextStep Replay::next() {
  proposed_ = position_ < tape_.size();
  if (!proposed_) {
    return {NextKind::kEnd, 0};
  }
  const TapeStep& step = tape_.step(position_++);
  realized_.begin_step(step.kind, step.target, step.origin);
  source_.replay(tape_, step);
  return {next_kind(step.kind), step.target};
}

void Replay::reject() {
  ORDEAL_CHECK(proposed_, "no step to reject at position " << position_);
  proposed_ = false;
  realized_.drop_step();
  ++rejected_;
}

}  // namespace ordeal
