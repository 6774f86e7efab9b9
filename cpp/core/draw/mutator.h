// Changes a value that led somewhere a little.
//
// Functions of their arguments alone: who owns the generator may call them on any thread. The kinds of change are those
// that AFL and libFuzzer make to bytes, here to values that a strategy drew.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/rng.h"
#include "core/tape/choice.h"

namespace ordeal {

// The value itself, a near one, its double, half or negative, one with a bit flipped or a byte replaced, or an end of
// the range; always in [low, high], and `value` must be. Bit flips alone never replace a whole byte, which is why near
// and far changes are mixed.
std::int64_t mutate_integer(Rng& rng, std::int64_t value, std::int64_t low, std::int64_t high);

// The next number on either side, a near one, its negative, double, half or inverse, or rounded. The caller checks the
// bounds.
double mutate_real(Rng& rng, double value);

// A character or a slice is inserted, deleted, doubled or replaced, with what stands in the value or in `other`, which
// may be empty; or the two are joined. The caller checks size and alphabet.
std::string mutate_text(Rng& rng, std::string_view utf8, std::string_view other);
std::string mutate_bytes(Rng& rng, std::string_view bytes, std::string_view other);

// A change as above of an integer that may be of any size, a float, a text or bytes, for which the constraints are not
// known; `other`, of the same kind, may be null. A boolean is flipped.
Choice mutate_choice(Rng& rng, const Choice& choice, const Choice* other);

}  // namespace ordeal
