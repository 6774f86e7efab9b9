// Changes a value that led somewhere a little, inside its constraints.
#pragma once

#include <cstdint>

#include "core/rng.h"

namespace ordeal {

// The value itself, a near one, one with a bit flipped, or an end of the range; always in [low, high], and `value` must
// be. Bit flips alone never replace a whole byte, which is why near and far changes are mixed.
std::int64_t mutate_integer(Rng& rng, std::int64_t value, std::int64_t low, std::int64_t high);

}  // namespace ordeal
