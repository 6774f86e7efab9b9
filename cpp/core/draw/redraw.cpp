#include "core/draw/redraw.h"

#include <utility>

namespace ordeal {

Redraw::Redraw(std::uint64_t seed, std::string_view stream) : source_(repeated_) {
  begin();
  source_.live(Rng::stream(seed, stream));
}

Redraw::Redraw(std::span<const Choice> choices) : source_(repeated_) {
  begin();
  for (const Choice& choice : choices) {
    repeated_.add(choice);
  }
  repeat();
}

void Redraw::begin() {
  repeated_.begin_step(StepKind::kRule, 0, 0);
  repeated_.begin_argument(0);
}

void Redraw::repeat() {
  if (source_.is_live() || made_.empty()) {
    made_ = std::move(repeated_);
  }
  repeated_ = Tape();
  repeated_.begin_step(StepKind::kRule, 0, 0);
  source_.replay(made_, made_.last_step());
  source_.reset_misaligned();
  source_.begin_argument(0);
}

bool Redraw::matches() const { return source_.misaligned() == 0 && repeated_ == made_; }

}  // namespace ordeal
