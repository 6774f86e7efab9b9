// Searches for a simpler value that still fails: of a distance, an integer, a float, a string or bytes.
#pragma once

#include <cstdint>

#include "core/shrink/inquiry.h"
#include "core/tape/choice.h"
#include "core/tape/domain.h"

namespace ordeal {

// A light search assumes that what is beyond the nearest value that passes passes as well, and costs two questions
// where nothing can be done. A thorough one also finds what lies beyond a few values that pass, as where a remainder
// decides.
enum class Effort : std::uint8_t { kLight, kThorough };

// Distances below `distance` that still fail: none at all, else one less and from there by bisection. Thorough: else
// halves, then up to ten less, and what is left when that is taken off as often as can be.
Inquiry<std::uint64_t> smaller_distances(std::uint64_t distance, Effort effort);

// Choices that are simpler than `now`, the best first. `now` is the caller's: after each yes it must hold what really
// ran, which may differ from the question. Answers about values that were asked before may be a plain no.
Inquiry<Choice> simpler_choices(const Choice& now, const Domain& domain, Effort effort);

}  // namespace ordeal
