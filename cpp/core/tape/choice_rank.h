// How simple a choice is: the total order that shrinking descends.
//
// Pure functions, for any thread. A rank of a text or a big integer allocates.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "core/tape/choice.h"
#include "core/tape/constraint.h"

namespace ordeal {

// A value type; less is simpler. The members decide in this order:
//
//   boolean  false, true
//   integer  by distance from the simplest value of its draw, the one above before the one below; those outside int64
//            after all others, by magnitude
//   float    whole numbers, halves, then by how many decimals it takes to write them (more than 15 count as 16), then
//            infinity, then NaN; within these by magnitude, the positive before the negative
//   string   shorter, then character by character in the order of its alphabet
//   bytes    shorter, then byte by byte
//
// It is well-founded: below each rank there are finitely many of its length, so shrinking always ends.
struct ChoiceRank {
  ChoiceKind kind = ChoiceKind::kBoolean;
  std::uint8_t group = 0;
  std::uint64_t size = 0;
  std::uint64_t magnitude = 0;
  std::u32string text;
  bool negative = false;

  friend auto operator<=>(const ChoiceRank&, const ChoiceRank&) = default;
};

ChoiceRank rank_of(const Choice& choice, const Constraint& constraint);

// Whether nothing in the constraint is simpler, as far as the constraint is known.
bool is_simplest(const Choice& choice, const Constraint& constraint);
// A proposal for the simplest value of the constraint; a replay repairs it if less is allowed than the constraint says.
Choice simplest_choice(ChoiceKind kind, const Constraint& constraint);

// The distance of an integer from the simplest value of its draw; not for big integers.
std::uint64_t distance_of(const Choice& integer, const Constraint& constraint) noexcept;
// The integer at a distance from the simplest value, below it or above.
Choice integer_at(std::uint64_t distance, bool below, const Constraint& constraint);
// How many decimals the number needs, at most 15; 16 if these are not enough or it is not finite.
int decimals_of(double value) noexcept;
inline constexpr int kDecimalsMax = 15;
// Whether twice the number is whole and the number is not.
bool is_half_of_whole(double value) noexcept;
// 10 to the power of `decimals`, which is at most kDecimalsMax.
double power_of_ten(int decimals);

// A string or bytes as the ranks of its characters, 0 for the simplest, and the inverse.
std::u32string row_of(const Choice& text, const Constraint& constraint);
Choice text_of(std::u32string row, ChoiceKind kind, const Constraint& constraint);

// The bytes of the magnitude of an integer outside int64, the highest first and not zero.
std::u32string magnitude_of(const Choice& big_integer);
Choice integer_of(std::u32string_view magnitude, bool negative);

}  // namespace ordeal
