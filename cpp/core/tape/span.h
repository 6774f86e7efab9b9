// A span: choices that belong together, because one draw or one element of a collection made them.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/tape/constraint.h"

namespace ordeal {

// The choices [begin, end) of a tape. Spans nest: two of one tape are disjoint, or one lies in the other.
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  [[nodiscard]] std::uint32_t size() const noexcept { return end - begin; }
  [[nodiscard]] bool holds(const Span& other) const noexcept { return begin <= other.begin && other.end <= end; }

  friend bool operator==(const Span&, const Span&) = default;
  // Outer spans come before those that they hold.
  friend std::strong_ordering operator<=>(const Span& left, const Span& right) noexcept {
    return left.begin != right.begin ? left.begin <=> right.begin : right.end <=> left.end;
  }
};

// What a replay notes about the draws of the tape that it writes, for the shrinker: pairs of a choice's index and its
// constraint, in order, and the spans in the order in which they end.
//
// Spans have no labels: compiled strategies and Hypothesis would name them differently, and whether two spans may take
// each other's place is decided by running the result.
struct DrawNotes {
  std::vector<std::pair<std::size_t, Constraint>> constraints;
  std::vector<Span> spans;
};

}  // namespace ordeal
