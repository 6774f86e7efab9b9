// Searches for a simpler value that still fails: a distance, an integer, a float, a string or bytes.
//
// Knows a value and a verdict, and nothing about tapes, so each search is tested with a plain predicate. A search has
// one owner.
#pragma once

#include <cstdint>

#include "core/base/search_coroutine.h"
#include "core/tape/choice.h"
#include "core/tape/constraint.h"

namespace ordeal {

// A light search assumes that everything beyond the nearest passing value passes as well, and costs two candidates
// where nothing can be done. A thorough one also finds failing values beyond a few passing ones, as where a remainder
// decides.
enum class Effort : std::uint8_t { kLight, kThorough };

// Distances below `distance` that still fail: zero, else one less and from there by bisection. Thorough: else halves,
// then up to ten less, and repeatedly subtracting what worked.
SearchCoroutine<std::uint64_t> smaller_distances(std::uint64_t distance, Effort effort);

// Choices simpler than `now`, the best first. The caller owns `now`: after each accepted candidate it must hold what
// really ran, which may differ from it. A candidate proposed before may simply be refused.
SearchCoroutine<Choice> simpler_choices(const Choice& now, const Constraint& constraint, Effort effort);
// Whether the search that began with `before` can continue with what really ran. It cannot with a choice of another
// kind, nor with a big integer in place of a small one, as when a repair or another draw has replaced the value.
bool goes_on_with(const Choice& before, const Choice& now) noexcept;

}  // namespace ordeal
