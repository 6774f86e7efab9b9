// Reads a run from a tape, step by step, and records what really happened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/draw/choice_source.h"
#include "core/draw/continuation.h"
#include "core/tape/constraint.h"
#include "core/tape/journal.h"
#include "core/tape/span.h"
#include "core/tape/step_source.h"
#include "core/tape/tape.h"

namespace ordeal {

// The driver calls next(), then either runs the step or calls reject() when its rule is not
// available; a rejected step is left out of the realized tape. Choices are read through source().
class Replay {
 public:
  explicit Replay(Tape tape);
  // Goes on with random steps where the tape ends; what these draw is random too.
  Replay(Tape tape, Continuation continuation);
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  NextStep next();
  // The step from next() cannot run. Once for a step, and before it draws anything that matters.
  void reject();

  // Journals the replay as a run, until the journal is taken away.
  void set_journal(std::shared_ptr<Journal> journal) noexcept { source_.set_journal(std::move(journal), true); }

  [[nodiscard]] ChoiceSource& source() noexcept { return source_; }
  // Steps that ran, with the choices that they used.
  [[nodiscard]] const Tape& realized() const noexcept { return realized_; }
  // The constraints of the draws on the realized tape, by the index of the choice.
  [[nodiscard]] std::vector<Constraint> constraints() const;
  // The spans of the draws on the realized tape, in the order in which they ended; some more than once.
  [[nodiscard]] const std::vector<Span>& spans() const noexcept { return notes_.spans; }
  [[nodiscard]] std::size_t rejected() const noexcept { return rejected_; }
  // How many recorded choices the steps that ran did not use, because they drew less than was recorded. In the last
  // step, the arguments named `in_body` do not count: how much they draw may depend on repairs. Nothing of it counts if
  // it did not finish.
  [[nodiscard]] std::size_t unused(std::span<const std::uint32_t> in_body, bool finished) const;
  // Position in the recorded tape of the last step returned, 0 before the first; its size in random steps.
  [[nodiscard]] std::size_t position() const noexcept { return position_ == 0 ? 0 : position_ - 1; }

 private:
  NextStep next_random();

  Tape tape_;
  std::optional<Continuation> continuation_;
  std::vector<bool> faults_on_;  // kept with a continuation only
  Tape realized_;
  DrawNotes notes_;
  ChoiceSource source_;
  std::size_t position_ = 0;
  std::vector<std::size_t> ran_;  // the position of each step of the realized tape; random ones come after the tape
  bool proposed_ = false;         // a step that may still be rejected
  std::size_t rejected_ = 0;
};

}  // namespace ordeal
