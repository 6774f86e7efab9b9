#include "core/tape/choice_rank.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <ranges>
#include <utility>

#include "core/base/check.h"
#include "core/tape/text.h"

namespace ordeal {
namespace {

// The groups by which floats are compared first, the simplest first.
enum RealGroup : std::uint8_t { kWhole, kHalf, kFraction, kInfinity, kNan };

std::uint64_t bits_of(double value) noexcept { return std::bit_cast<std::uint64_t>(value); }

// False is simpler than true, for any probability.
ChoiceRank rank_of_boolean(bool value) {
  ChoiceRank rank;
  rank.magnitude = value ? 1 : 0;
  return rank;
}

// All big integers come after all small ones, ordered by their number of bytes and then by these.
ChoiceRank rank_of_integer(const Choice& choice, const Constraint& constraint) {
  ChoiceRank rank;
  rank.kind = ChoiceKind::kInteger;
  if (choice.is_big()) {
    rank.group = 1;
    rank.text = magnitude_of(choice);
    rank.size = rank.text.size();
    rank.negative = (static_cast<std::uint8_t>(choice.blob().back()) & 0x80U) != 0;
    return rank;
  }
  rank.magnitude = distance_of(choice, constraint);
  rank.negative = choice.number < constraint.simplest;
  return rank;
}

// The bits of two positive floats have the order of their values.
ChoiceRank rank_of_real(double value) {
  ChoiceRank rank;
  rank.kind = ChoiceKind::kFloat;
  rank.magnitude = bits_of(std::abs(value));
  rank.negative = std::signbit(value);
  if (std::isnan(value)) {
    rank.group = kNan;
  } else if (std::isinf(value)) {
    rank.group = kInfinity;
  } else {
    const int decimals = decimals_of(value);
    rank.group = decimals == 0 ? kWhole : is_half_of_whole(value) ? kHalf : kFraction;
    rank.size = static_cast<std::uint64_t>(decimals);
  }
  return rank;
}

// Shorter ones first.
ChoiceRank rank_of_text(const Choice& choice, const Constraint& constraint) {
  ChoiceRank rank;
  rank.kind = choice.kind;
  rank.text = row_of(choice, constraint);
  rank.size = rank.text.size();
  return rank;
}

// In place, the lowest byte first.
void negate(std::string& two_complement) noexcept {
  unsigned carry = 1;
  for (char& c : two_complement) {
    const unsigned sum = (static_cast<std::uint8_t>(~static_cast<std::uint8_t>(c))) + carry;
    c = static_cast<char>(sum);
    carry = sum >> 8U;
  }
}

}  // namespace

// A choice of another kind is compared by its kind alone: what a draw asks for does not change while it is shrunk.
ChoiceRank rank_of(const Choice& choice, const Constraint& constraint) {
  switch (choice.kind) {
    case ChoiceKind::kBoolean:
      return rank_of_boolean(choice.number != 0);
    case ChoiceKind::kInteger:
      return rank_of_integer(choice, constraint);
    case ChoiceKind::kFloat:
      return rank_of_real(choice.as_real());
    case ChoiceKind::kString:
    case ChoiceKind::kBytes:
      return rank_of_text(choice, constraint);
  }
  return {};
}

// A float is compared by its bits: -0.0 is not as simple as 0.0.
bool is_simplest(const Choice& choice, const Constraint& constraint) {
  switch (choice.kind) {
    case ChoiceKind::kBoolean:
      return choice.number == 0 || constraint.low > 0;
    case ChoiceKind::kInteger:
    case ChoiceKind::kFloat:
      return !choice.is_big() && choice.number == constraint.simplest;
    case ChoiceKind::kString:
    case ChoiceKind::kBytes:
      return choice == simplest_choice(choice.kind, constraint);
  }
  return true;
}

// With the minimum size of the draw, a text is of nothing but the simplest character.
Choice simplest_choice(ChoiceKind kind, const Constraint& constraint) {
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(constraint.low, 0));
  switch (kind) {
    case ChoiceKind::kBoolean:
      return Choice::boolean(constraint.low > 0);
    case ChoiceKind::kInteger:
      return Choice::integer(constraint.simplest);
    case ChoiceKind::kFloat:
      return Choice::real(std::bit_cast<double>(constraint.simplest));
    case ChoiceKind::kString:
    case ChoiceKind::kBytes:
      return text_of(std::u32string(size, 0), kind, constraint);
  }
  return {};
}

std::uint64_t distance_of(const Choice& integer, const Constraint& constraint) noexcept {
  ORDEAL_DCHECK(!integer.is_big(), "a big integer has no distance");
  const auto value = static_cast<std::uint64_t>(integer.number);
  const auto simplest = static_cast<std::uint64_t>(constraint.simplest);
  return integer.number >= constraint.simplest ? value - simplest : simplest - value;
}

// The inverse of distance_of. Unsigned, as the distance between the ends of the range does not fit into a signed
// number.
Choice integer_at(std::uint64_t distance, bool below, const Constraint& constraint) {
  const auto simplest = static_cast<std::uint64_t>(constraint.simplest);
  return Choice::integer(static_cast<std::int64_t>(below ? simplest - distance : simplest + distance));
}

// From a table: std::pow may differ in the last bit between libraries, and a tape must shrink the same way everywhere.
double power_of_ten(int decimals) {
  static constexpr std::array<double, kDecimalsMax + 1> kPowers{1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                                1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  return kPowers.at(static_cast<std::size_t>(decimals));
}

// Whole numbers from 2^53 on have no decimals. Below, tries one more decimal until the rounded number divides back to
// the value.
int decimals_of(double value) noexcept {
  constexpr double kWholeMax = 0x1p53;
  if (!std::isfinite(value)) {
    return kDecimalsMax + 1;
  }
  if (std::abs(value) >= kWholeMax) {
    return 0;
  }
  for (int decimals = 0; decimals <= kDecimalsMax; ++decimals) {
    const double scaled = value * power_of_ten(decimals);
    if (std::abs(scaled) >= kWholeMax) {
      break;
    }
    if (std::nearbyint(scaled) / power_of_ten(decimals) == value) {
      return decimals;
    }
  }
  return kDecimalsMax + 1;
}

// Characters in the order in which Hypothesis shrinks them; bytes by their value.
std::u32string row_of(const Choice& text, const Constraint& constraint) {
  std::u32string row;
  if (text.kind == ChoiceKind::kString) {
    const Alphabet* const alphabet = constraint.alphabet.get();
    row = characters_of(text.blob());
    std::ranges::transform(row, row.begin(), [alphabet](char32_t c) {
      return static_cast<char32_t>(alphabet == nullptr ? rank_of_character(c) : alphabet->rank_of(c));
    });
  } else {
    std::ranges::transform(text.blob(), std::back_inserter(row),
                           [](char c) { return static_cast<char32_t>(static_cast<std::uint8_t>(c)); });
  }
  return row;
}

Choice text_of(std::u32string row, ChoiceKind kind, const Constraint& constraint) {
  if (kind == ChoiceKind::kString) {
    const Alphabet* const alphabet = constraint.alphabet.get();
    std::ranges::transform(row, row.begin(), [alphabet](char32_t rank) {
      return alphabet == nullptr ? character_of_rank(rank) : alphabet->character_of(rank);
    });
    return Choice::text(utf8_of(row));
  }
  std::string bytes;
  std::ranges::transform(row, std::back_inserter(bytes), [](char32_t rank) { return static_cast<char>(rank); });
  return Choice::bytes(std::move(bytes));
}

bool is_half_of_whole(double value) noexcept {
  return std::isfinite(value) && value != std::trunc(value) && value * 2 == std::trunc(value * 2);
}

// The highest byte first, which is the order of comparing.
std::u32string magnitude_of(const Choice& big_integer) {
  ORDEAL_CHECK(big_integer.is_big(), "not a big integer: " << big_integer.number);
  std::string bytes = big_integer.blob();
  if ((static_cast<std::uint8_t>(bytes.back()) & 0x80U) != 0) {
    bytes.push_back('\xFF');  // room for the sign: the lowest number of a width has no opposite of that width
    negate(bytes);
  }
  std::u32string magnitude;
  for (const char byte : std::views::reverse(bytes)) {
    if (byte != 0 || !magnitude.empty()) {
      magnitude.push_back(static_cast<std::uint8_t>(byte));
    }
  }
  return magnitude;
}

// The inverse. Returns a small integer if the magnitude fits.
Choice integer_of(std::u32string_view magnitude, bool negative) {
  while (!magnitude.empty() && magnitude.front() == 0) {
    magnitude.remove_prefix(1);
  }
  if (magnitude.size() < 8 || (magnitude.size() == 8 && magnitude.front() < 0x80)) {
    std::int64_t value = 0;
    for (const char32_t byte : magnitude) {
      value = (value << 8U) | static_cast<std::int64_t>(byte);
    }
    return Choice::integer(negative ? -value : value);
  }
  std::string bytes;
  for (const char32_t byte : std::views::reverse(magnitude)) {
    bytes.push_back(static_cast<char>(byte));
  }
  bytes.push_back('\0');
  if (negative) {
    negate(bytes);
    const bool is_lowest = bytes.size() == 9 && magnitude.front() == 0x80 &&
                           std::ranges::all_of(magnitude.substr(1), [](char32_t byte) { return byte == 0; });
    if (is_lowest) {
      return Choice::integer(std::numeric_limits<std::int64_t>::min());
    }
  }
  // As wide as a signed number must be, and at least wide enough to differ from a small one.
  while (bytes.size() > 9) {
    const bool sign = (static_cast<std::uint8_t>(bytes[bytes.size() - 2]) & 0x80U) != 0;
    if (bytes.back() != (sign ? '\xFF' : '\0')) {
      break;
    }
    bytes.pop_back();
  }
  return Choice::big_integer(std::move(bytes));
}

}  // namespace ordeal
