// How integers beyond 64 bits are drawn without a tape.
//
// A pure function: the owner of the generator may call it on any thread.
#pragma once

#include "core/base/rng.h"
#include "core/tape/wide_integer.h"

namespace ordeal {

// Bounds of wide draws are at most this far from zero, so that no sum or distance overflows.
inline constexpr Wide kWideMax = Wide{1} << 125U;

// Draws near a value are at most this far from it.
inline constexpr Wide kNear = 256;

// In [low, high], with bounds at most kWideMax from zero. Like draw_integer in a large range: in percent 30 within
// kNear of `toward`, 30 at a distance of uniform bit length from it, 20 uniform, 8 an end, its neighbour or `toward`,
// and 12 a power of two or a neighbour of one, if that is inside (else at a distance).
Wide draw_wide(Rng& rng, Wide low, Wide high, Wide toward);

}  // namespace ordeal
