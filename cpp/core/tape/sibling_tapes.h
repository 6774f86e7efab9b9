// Tapes that may show one failure by the steps of its sibling: one at the same place, after another last step.
//
// A machine with many rules shows one mistake after many of them. The shortest tape of one is a better start for
// shrinking another than the run that happened to show it, and may turn out to be all that it needs.
#pragma once

#include <cstddef>
#include <vector>

#include "core/tape/tape.h"

namespace ordeal {

// So many steps are exchanged: what needs more has no short tape to offer.
inline constexpr std::size_t kExchangesMax = 16;

// What to try in place of `failing`, the most telling first: the steps of `known` with the one last that `failing` ends
// with, which needs nothing that `known` does not need. With `exchange` also `known` with the last step of `failing`
// for one of its own, the last one first. None takes more steps than `failing`, or is it.
[[nodiscard]] std::vector<Tape> sibling_tapes(const Tape& known, const Tape& failing, bool exchange);

}  // namespace ordeal
