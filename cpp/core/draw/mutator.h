// Slightly changes a value that led somewhere.
//
// Pure functions: the owner of the generator may call them on any thread. The kinds of change are those that AFL and
// libFuzzer make to bytes, here on values that a strategy drew.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/rng.h"
#include "core/tape/choice.h"

namespace ordeal {

// Returns the value itself, a near one, its double, half or negative, one with a bit flipped or a byte replaced, or an
// end of the range; always in [low, high], as `value` must be. Bit flips alone never replace a whole byte, which is why
// near and far changes are mixed.
std::int64_t mutate_integer(Rng& rng, std::int64_t value, std::int64_t low, std::int64_t high);

// Returns the next number on either side, a near one, its negative, double, half or inverse, or a rounded one. The
// caller checks the bounds.
double mutate_real(Rng& rng, double value);

// Inserts, deletes, doubles or replaces a character or slice, using parts of the value or of `other`, which may be
// empty; or joins the two. The caller checks size and alphabet.
std::string mutate_text(Rng& rng, std::string_view utf8, std::string_view other);
std::string mutate_bytes(Rng& rng, std::string_view bytes, std::string_view other);

// Makes such a change to an integer of any size, a float, a text or bytes whose constraints are unknown; `other`, of
// the same kind, may be null. Flips a boolean.
Choice mutate_choice(Rng& rng, const Choice& choice, const Choice* other);

}  // namespace ordeal
