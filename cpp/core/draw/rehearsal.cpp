#include "core/draw/rehearsal.h"

#include <utility>

namespace ordeal {

Rehearsal::Rehearsal(std::uint64_t seed, std::string_view stream) : source_(repeated_) {
  begin();
  source_.live(Rng::stream(seed, stream));
}

Rehearsal::Rehearsal(std::span<const Choice> choices) : source_(repeated_) {
  begin();
  for (const Choice& choice : choices) {
    repeated_.add(choice);
  }
  repeat();
}

void Rehearsal::begin() {
  repeated_.begin_step(StepKind::kRule, 0, 0);
  repeated_.begin_argument(0);
}

void Rehearsal::repeat() {
  if (source_.is_live() || made_.empty()) {
    made_ = std::move(repeated_);
  }
  repeated_ = Tape();
  repeated_.begin_step(StepKind::kRule, 0, 0);
  source_.replay(made_, made_.last_step());
  source_.reset_misaligned();
  source_.begin_argument(0);
}

bool Rehearsal::is_faithful() const { return source_.misaligned() == 0 && repeated_ == made_; }

}  // namespace ordeal
