// How a value is drawn without a tape: mostly small and simple, often at an edge, everything possible.
//
// The same state of the generator gives the same value on every platform: only integers, bits and the exactly rounded
// operations of IEEE 754 decide, never a library function whose last bit may differ. (The compiler must not fuse a
// multiplication with an addition: build with -ffp-contract=off.) Bounds that allow no value break a check.
//
// Pure functions: the owner of the generator may call them on any thread. A draw allocates only for text, bytes and
// integers beyond 64 bits. From fuzzers comes the idea that interesting values are at edges and powers of two; from
// Hypothesis, that simple values must be frequent enough to be found first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/rng.h"
#include "core/tape/choice.h"

namespace ordeal {

// Ranges of at most kUniformRange + 1 values are drawn uniformly.
inline constexpr std::uint64_t kUniformRange = 127;

// In [low, high]. Uniform in a small range, else one of: near `toward` (within 256), a distance from it of uniform bit
// length, uniform, an end, its neighbour or `toward` itself, a power of two or a round number or a neighbour of one.
// Uniform draws are more frequent in ranges of some thousand values, small values in larger ones.
std::int64_t draw_integer(Rng& rng, std::int64_t low, std::int64_t high, std::int64_t toward);

// Like draw_integer, but a missing bound is open; magnitudes up to 2^128 - 1 on an open side.
Choice draw_unbounded_integer(Rng& rng, std::optional<std::int64_t> low, std::optional<std::int64_t> high,
                              std::int64_t toward);

// In [low, high], where -0.0 is below 0.0; NaN as well if allowed (4 %). A value other than zero is at least
// `smallest_nonzero` away from it. Simple fractions, uniform or of uniform exponent, any bit pattern, edges, and
// numbers that programs often get wrong. In a range of 2^64 or more 64 % are integers, most of them small.
double draw_real(Rng& rng, double low, double high, bool allow_nan, double smallest_nonzero);

// In [low, high], as if a coin decided after each element whether another follows: geometric, cut off at `high`, of
// mean `average`, which lies in [low, high] and in the lower half of a finite range (above it the mean falls short). In
// a range of at most kSizeRangeSmall one draw in 32 is `low` and one in 32 is `high`, without the coin.
std::size_t draw_size(Rng& rng, std::size_t low, std::size_t high, double average);
inline constexpr std::size_t kSizeRangeSmall = 32;

// In [0, size); size > 0. Uniform up to 256. In a larger alphabet 45 % are below 128, 30 % below 256, 5 % in the next
// 12,000 (other scripts, when the alphabet is Unicode) and 20 % anywhere above 256, which is mostly beyond 16 bits.
std::uint32_t draw_alphabet_index(Rng& rng, std::uint32_t size);

// With the length of draw_size. Half are uniform bytes; the others are runs, text, all zero or all 0xff.
std::string draw_bytes(Rng& rng, std::size_t low, std::size_t high);

// The mean size that Hypothesis, and this engine, give to a collection with these bounds.
double average_size(std::size_t low, std::size_t high) noexcept;

}  // namespace ordeal
