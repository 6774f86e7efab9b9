#include "core/draw/redraw.h"

#include <utility>

namespace ordeal {

// The name of the stream separates draws for one purpose from others with the same seed.
Redraw::Redraw(std::uint64_t seed, std::string_view stream) : source_(repeated_) {
  begin();
  source_.live(Rng::stream(seed, stream));
}

// As if the choices had been drawn, then repeated at once.
Redraw::Redraw(std::span<const Choice> choices) : source_(repeated_) {
  begin();
  for (const Choice& choice : choices) {
    repeated_.add(choice);
  }
  repeat();
}

// All draws belong to one argument of one step, so that there is one sequence of choices to compare.
void Redraw::begin() {
  repeated_.begin_step(StepKind::kRule, 0, 0);
  repeated_.begin_argument(0);
}

// The first repetition turns the draws into the record; later ones read that record again, no matter what was drawn in
// between.
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

// No choice was repaired, and none was left over or added.
bool Redraw::matches() const { return source_.misaligned() == 0 && repeated_ == made_; }

}  // namespace ordeal
