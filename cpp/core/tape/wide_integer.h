// Integer choices as numbers of up to 128 bits, however a choice stores them.
//
// Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <optional>

#include "core/tape/choice.h"

namespace ordeal {

// gcc and clang both have it; only -Wpedantic objects.
using Wide = __int128;
using WideUnsigned = unsigned __int128;

// Nothing for a choice of another kind and for an integer of more than 128 bits.
std::optional<Wide> wide_of(const Choice& choice) noexcept;

// The choice that holds this integer: plain if it fits in 64 bits, else as short as its sign allows.
Choice integer_choice(Wide value);
// The same for a magnitude of at least 2^64, which may need all 128 bits and one more for the sign.
Choice big_integer_choice(bool is_negative, WideUnsigned magnitude);

// The number of bits in the magnitude of an integer of any size: 0 for zero.
std::size_t magnitude_bits(const Choice& integer) noexcept;

}  // namespace ordeal
