// Searches for a simpler value that still fails: of a distance, an integer, a float, a string or bytes.
//
// Knows a value and a verdict, and nothing of tapes: so each search is tested with a plain predicate. A search is of
// one owner.
#pragma once

#include <cstdint>

#include "core/shrink/search_coroutine.h"
#include "core/tape/choice.h"
#include "core/tape/constraint.h"

namespace ordeal {

// A light search assumes that what is beyond the nearest value that passes passes as well, and costs two candidates
// where nothing can be done. A thorough one also finds what lies beyond a few values that pass, as where a remainder
// decides.
enum class Effort : std::uint8_t { kLight, kThorough };

// Distances below `distance` that still fail: none at all, else one less and from there by bisection. Thorough: else
// halves, then up to ten less, and what is left when that is taken off as often as can be.
SearchCoroutine<std::uint64_t> smaller_distances(std::uint64_t distance, Effort effort);

// Choices that are simpler than `now`, the best first. `now` is the caller's: after each accepted candidate it must
// hold what really ran, which may differ from it. A value that was proposed before may simply be refused.
SearchCoroutine<Choice> simpler_choices(const Choice& now, const Constraint& constraint, Effort effort);
// Whether the search that began with `before` can go on with what really ran. It cannot with a choice of another kind,
// nor with a big integer in place of a small one, as where a repair or another draw has taken the place of the value.
bool goes_on_with(const Choice& before, const Choice& now) noexcept;

}  // namespace ordeal
