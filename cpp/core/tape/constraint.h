// Choice constraints: what a draw allowed, as far as known. Replays note them for the shrinker.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "core/tape/alphabet.h"

namespace ordeal {

// A value type. For an integer its bounds and its simplest value; for a float `simplest` holds the bits of its simplest
// value; for a string or bytes `low` and `high` bound the size, and a string has characters of the `alphabet`, in its
// order, or any if that is null. An integer that `selects` is an index of something, so its neighbours are no more like
// it than others. The default stands for a draw about which nothing is known.
struct Constraint {
  static constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::min();

  std::int64_t low = kAny;
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
  std::int64_t simplest = 0;
  std::shared_ptr<const Alphabet> alphabet = nullptr;
  bool selects = false;

  friend bool operator==(const Constraint&, const Constraint&) = default;
};

}  // namespace ordeal
