#include "core/draw/wide_distribution.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "core/base/check.h"

namespace ordeal {
namespace {

std::uint64_t bit_length(WideUnsigned value) noexcept {
  const auto high = static_cast<std::uint64_t>(value >> 64U);
  return static_cast<std::uint64_t>(high != 0 ? 64 + std::bit_width(high)
                                              : std::bit_width(static_cast<std::uint64_t>(value)));
}

// A number of at most `bits` random bits. Always draws twice.
WideUnsigned random_bits(Rng& rng, std::uint64_t bits) noexcept {
  const WideUnsigned high = rng.next();
  const WideUnsigned both = (high << 64U) | rng.next();
  return bits == 0 ? 0 : both >> (128 - bits);
}

// In [0, most]: draws bits of that length until they are in range, which takes two tries on average.
WideUnsigned below_or_at(Rng& rng, WideUnsigned most) noexcept {
  const std::uint64_t bits = bit_length(most);
  WideUnsigned value = random_bits(rng, bits);
  while (value > most) {
    value = random_bits(rng, bits);
  }
  return value;
}

// Both ends are in the range. The difference of two bounds fits, as both are at most kWideMax from zero.
Wide uniform(Rng& rng, Wide low, Wide high) noexcept {
  return low + static_cast<Wide>(below_or_at(rng, static_cast<WideUnsigned>(high - low)));
}

// In [1, most], with each bit length equally likely.
Wide log_uniform(Rng& rng, Wide most) noexcept {
  ORDEAL_DCHECK(most > 0, "nothing lies in [1, 0]");
  const Wide low = Wide{1} << rng.below(bit_length(static_cast<WideUnsigned>(most)));
  return uniform(rng, low, std::min(most, low + (low - 1)));
}

// As away_integer() for 64 bits.
Wide away(Rng& rng, Wide low, Wide high, Wide toward) noexcept {
  const Wide above = high - toward;
  const Wide below = toward - low;
  if (above == 0 && below == 0) {
    return toward;
  }
  const bool up = below == 0 || (above != 0 && rng.below(2) == 0);
  return up ? toward + log_uniform(rng, above) : toward - log_uniform(rng, below);
}

// A power of two or a neighbour of one; other round numbers matter less in a range this wide.
Wide landmark(Rng& rng, Wide low, Wide high, Wide toward) noexcept {
  const Wide reach = std::max(low < 0 ? -low : low, high < 0 ? -high : high);
  const Wide beside = static_cast<Wide>(rng.below(3)) - 1;
  const Wide magnitude = (Wide{1} << rng.below(bit_length(static_cast<WideUnsigned>(reach)) + 1)) + beside;
  const bool negative = low < 0 && (high <= 0 || rng.below(2) == 0);
  const Wide value = negative ? -magnitude : magnitude;
  return low <= value && value <= high ? value : away(rng, low, high, toward);
}

}  // namespace

// The shares of a large range in distributions.cpp.
Wide draw_wide(Rng& rng, Wide low, Wide high, Wide toward) {
  ORDEAL_CHECK(low <= high, "a range of integers has a value");
  ORDEAL_CHECK(-kWideMax <= low && high <= kWideMax, "the bounds of a wide range are at most kWideMax from zero");
  const Wide simplest = std::clamp(toward, low, high);
  const std::uint64_t percent = rng.below(100);
  if (percent < 30) {
    return uniform(rng, std::max(low, simplest - kNear), std::min(high, simplest + kNear));
  }
  if (percent < 60) {
    return away(rng, low, high, simplest);
  }
  if (percent < 80) {
    return uniform(rng, low, high);
  }
  if (percent < 88) {
    const std::array<Wide, 8> ends{low,  low,  std::min(low + 1, high), simplest,
                                   high, high, std::max(high - 1, low), simplest};
    return ends[rng.below(ends.size())];
  }
  return landmark(rng, low, high, simplest);
}

}  // namespace ordeal
