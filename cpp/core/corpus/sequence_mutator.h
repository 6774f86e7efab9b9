// Makes a sequence of steps out of ones that led somewhere: their parts joined, repeated, left out, exchanged, changed.
//
// Functions of their arguments alone: who owns the generator may call them on any thread. O(steps), and each copies the
// steps that it takes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/base/rng.h"
#include "core/tape/tape.h"

namespace ordeal {

// Steps to be run in this order, with what each of them drew before. A step that cannot run there is left out.
//
// Values of bundles keep their positions, counted from the newest, and name no step that made them: a part of a
// sequence goes on with values that it made itself, or else with the newest that there are.
struct MutatedSequence {
  Tape tape;
  std::vector<bool> changed;  // by step: its arguments only mutate from what it drew

  [[nodiscard]] bool empty() const noexcept { return tape.empty(); }
};

// No sequence is longer than this, so that one that is made of another costs little.
inline constexpr std::size_t kEditedStepsMax = 1000;

// How many donors a splice should have at most.
inline constexpr std::size_t kDonorsMax = 4;

// The ends of `donors`, prefixes of checkpoints, whose last steps are what made them worth keeping; at most `steps_max`
// steps together, without initialize rules. To be run from another checkpoint. No donor may be null.
MutatedSequence splice(Rng& rng, std::span<const Tape* const> donors, std::size_t steps_max);

// The last few steps of `prefix`, again and again, up to `steps_max` of them; to be run after it.
MutatedSequence repeat(Rng& rng, const Tape& prefix, std::size_t steps_max);

// `tape` with a few steps left out, exchanged, done twice or changed; to be run from a fresh machine. A tape longer
// than kEditedStepsMax loses its end.
MutatedSequence edit(Rng& rng, const Tape& tape);

}  // namespace ordeal
