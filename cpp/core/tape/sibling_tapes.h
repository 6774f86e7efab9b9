// Tapes that may show one failure by the steps of its sibling: a failure at the same place, after another last step.
//
// A machine with many rules shows one mistake after many of them. The shortest tape of one failure is a better start
// for shrinking another than the run that happened to show it, and may be all that it needs.
#pragma once

#include <cstddef>
#include <vector>

#include "core/tape/tape.h"

namespace ordeal {

// The maximum number of exchanged steps: a failure that needs more steps has no short tape to offer.
inline constexpr std::size_t kExchangesMax = 16;

// Returns what to try in place of `failing`, the most informative first: the steps of `known` ending with the last step
// of `failing`, so that this failure needs no more than `known`. With `exchange` also `known` with one of its steps,
// the last one first, replaced by the last step of `failing`. None has more steps than `failing`, or equals it.
[[nodiscard]] std::vector<Tape> sibling_tapes(const Tape& known, const Tape& failing, bool exchange);

}  // namespace ordeal
