// What a draw allowed, as far as known: noted by replays for the shrinker.
#pragma once

#include <cstdint>
#include <limits>

namespace ordeal {

// A value type. For an integer its bounds and its simplest value; for a float `simplest` holds the bits of its simplest
// value; for a string or bytes `low` and `high` bound the size and `simplest` is the rank of the simplest character.
// The default stands for a draw about which nothing is known.
struct Constraint {
  static constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::min();

  std::int64_t low = kAny;
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
  std::int64_t simplest = 0;

  friend bool operator==(const Constraint&, const Constraint&) = default;
};

}  // namespace ordeal
