// Makes new sequences from steps that led somewhere: joins, repeats, drops, exchanges and changes parts of them.
//
// Pure functions: the owner of the generator may call them on any thread. O(steps), as each copies the steps that it
// takes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/base/rng.h"
#include "core/tape/tape.h"

namespace ordeal {

// Steps to run in this order, each with its earlier choices. A step that cannot run is left out.
//
// Values of bundles keep their positions, counted from the newest, without the step that made them: a part of a
// sequence continues with values that it made itself, or else with the newest ones.
struct MutatedSequence {
  Tape tape;
  std::vector<bool> changed;  // by step: whether its arguments only mutate from its choices

  [[nodiscard]] bool empty() const noexcept { return tape.empty(); }
};

// The length limit of a sequence, so that making one from another is cheap.
inline constexpr std::size_t kEditedStepsMax = 1000;

// The maximum number of donors of a splice.
inline constexpr std::size_t kDonorsMax = 4;

// Joins the ends of `donors`, prefixes of checkpoints, whose last steps made them worth keeping; at most `steps_max`
// steps together, without initialize rules. To run from another checkpoint. No donor may be null.
MutatedSequence splice(Rng& rng, std::span<const Tape* const> donors, std::size_t steps_max);

// Repeats the last few steps of `prefix`, up to `steps_max` steps; to run after it.
MutatedSequence repeat(Rng& rng, const Tape& prefix, std::size_t steps_max);

// Returns `tape` with a few steps left out, exchanged, repeated or changed; to run from a fresh machine. A tape longer
// than kEditedStepsMax loses its end.
MutatedSequence edit(Rng& rng, const Tape& tape);

}  // namespace ordeal
