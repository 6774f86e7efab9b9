#include "core/mutator.h"

#include <bit>

#include "core/check.h"

namespace ordeal {
namespace {

constexpr std::int64_t kNearMax = 16;

// `value + delta`, held inside the bounds without overflow.
std::int64_t moved(std::int64_t value, std::int64_t delta, std::int64_t low, std::int64_t high) noexcept {
  if (delta > 0) {
    return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(value) < static_cast<std::uint64_t>(delta)
               ? high
               : value + delta;
  }
  return static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(low) < static_cast<std::uint64_t>(-delta)
             ? low
             : value + delta;
}

std::int64_t flipped(Rng& rng, std::int64_t value, std::int64_t low, std::int64_t high) noexcept {
  const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  const auto bits = static_cast<std::uint64_t>(std::bit_width(span));
  const auto result = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) ^ (1ULL << rng.below(bits)));
  return result < low || result > high ? value : result;
}

}  // namespace

std::int64_t mutate_integer(Rng& rng, std::int64_t value, std::int64_t low, std::int64_t high) {
  ORDEAL_CHECK(low <= value && value <= high, "value=" << value << " low=" << low << " high=" << high);
  if (low == high) {
    return value;
  }
  switch (rng.below(8)) {
    case 0:
    case 1:
    case 2:
      return value;
    case 3:
    case 4: {
      const std::int64_t distance = rng.between(1, kNearMax);
      return moved(value, rng.chance(0.5) ? distance : -distance, low, high);
    }
    case 5:
    case 6:
      return flipped(rng, value, low, high);
    default:
      return rng.chance(0.5) ? low : high;
  }
}

}  // namespace ordeal
