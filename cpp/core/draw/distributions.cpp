#include "core/draw/distributions.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "core/base/check.h"
#include "core/draw/wide_distribution.h"
#include "core/tape/wide_integer.h"

namespace ordeal {
namespace {

// One draw per statement throughout: the order of evaluation within an expression is up to the compiler.

// Wide enough for any sum of two bounds and for all tails except their sign, which is kept separately.
using Wide = __int128;

// Both ends are in the range.
struct IntegerRange {
  Wide low;
  Wide high;

  [[nodiscard]] bool contains(Wide value) const noexcept { return low <= value && value <= high; }
};

// An open side is this far from the simplest value, except for the tails.
constexpr Wide kOpenSmall = 0xFFFF'FFFF;
constexpr Wide kOpenLarge = (Wide{1} << 65U) + 1;  // 2^64 and 2^65 with their neighbours are landmarks

// Shares in percent, cumulative. The rest goes to landmarks.
struct IntegerShares {
  std::uint64_t near;
  std::uint64_t away;
  std::uint64_t uniform;
  std::uint64_t end;
};

// In a range of some thousand values a rare value is as likely in the middle as anywhere; in a larger one chance would
// never find it there, and small values are worth more.
constexpr std::uint64_t kMediumRange = 4095;
constexpr IntegerShares kMediumShares{15, 30, 75, 85};
constexpr IntegerShares kLargeShares{30, 60, 80, 88};

// All that have room in 64 bits.
constexpr std::array<std::uint64_t, 20> kPowersOfTen = [] {
  std::array<std::uint64_t, 20> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) {
    powers[i] = powers[i - 1] * 10;
  }
  return powers;
}();

// The range may have 2^64 values at most.
Wide uniform_integer(Rng& rng, const IntegerRange& range) noexcept {
  ORDEAL_DCHECK(range.low <= range.high, "an empty range of integers");
  const auto span = static_cast<std::uint64_t>(range.high - range.low);
  return range.low + (span == UINT64_MAX ? rng.next() : rng.below(span + 1));
}

// Small values are the most frequent: bugs at small values are found first, and are the easiest to read.
Wide near_integer(Rng& rng, const IntegerRange& range, Wide toward) noexcept {
  return uniform_integer(rng, {std::max(range.low, toward - kNear), std::min(range.high, toward + kNear)});
}

// In [1, most], with each bit length equally likely.
// A uniform draw from a range of 2^64 would hardly ever give a number below 2^50.
std::uint64_t log_uniform(Rng& rng, std::uint64_t most) noexcept {
  ORDEAL_DCHECK(most > 0, "nothing lies in [1, 0]");
  const std::uint64_t low = std::uint64_t{1} << rng.below(static_cast<std::uint64_t>(std::bit_width(most)));
  const std::uint64_t high = std::min(most, low + (low - 1));
  return low + rng.below(high - low + 1);
}

// In either direction from the simplest value, where there is room.
Wide away_integer(Rng& rng, const IntegerRange& range, Wide toward) noexcept {
  const auto above = static_cast<std::uint64_t>(std::min(range.high - toward, Wide{UINT64_MAX}));
  const auto below = static_cast<std::uint64_t>(std::min(toward - range.low, Wide{UINT64_MAX}));
  if (above == 0 && below == 0) {
    return toward;
  }
  const bool up = below == 0 || (above != 0 && rng.below(2) == 0);
  return up ? toward + log_uniform(rng, above) : toward - log_uniform(rng, below);
}

// An end, the simplest value, or, half as often, the neighbour of an end.
Wide end_integer(Rng& rng, const IntegerRange& range, Wide toward) noexcept {
  const std::array<Wide, 8> ends{range.low,  range.low,  range.low + 1,  toward,
                                 range.high, range.high, range.high - 1, toward};
  return ends[rng.below(ends.size())];
}

// Half of them powers of two, half of them round in decimal: where sizes and limits of programs are.
WideUnsigned landmark_magnitude(Rng& rng, std::uint64_t bits) noexcept {
  if (rng.below(2) == 0) {
    return WideUnsigned{1} << rng.below(bits + 1);
  }
  // log10(2) is a little more than 3/10.
  const std::uint64_t digits = std::min<std::uint64_t>(kPowersOfTen.size(), 1 + (bits * 3 / 10));
  const std::uint64_t digit = 1 + rng.below(9);
  return WideUnsigned{kPowersOfTen[rng.below(digits)]} * digit;
}

// std::bit_width() for 128 bits.
std::uint64_t bit_length(Wide value) noexcept {
  const auto high = static_cast<std::uint64_t>(value >> 64U);
  const auto low = static_cast<std::uint64_t>(value);
  return static_cast<std::uint64_t>(high != 0 ? 64 + std::bit_width(high) : std::bit_width(low));
}

// A power of two or a round number, or a neighbour of one, of a size that the range has. If it is out of range, a
// distance.
Wide landmark_integer(Rng& rng, const IntegerRange& range, Wide toward) noexcept {
  const Wide reach = std::max(range.low < 0 ? -range.low : range.low, range.high < 0 ? -range.high : range.high);
  const Wide beside = static_cast<Wide>(rng.below(3)) - 1;
  const Wide magnitude = static_cast<Wide>(landmark_magnitude(rng, bit_length(reach))) + beside;
  const bool negative = range.low < 0 && (range.high <= 0 || rng.below(2) == 0);
  const Wide value = negative ? -magnitude : magnitude;
  return range.contains(value) ? value : away_integer(rng, range, toward);
}

// Of 65 to 128 bits, each length equally likely: outside int64 on either side.
Choice tail_integer(Rng& rng, bool negative) {
  const std::uint64_t bits = 65 + rng.below(64);
  const WideUnsigned high = rng.next();
  const WideUnsigned random = (high << 64U) | rng.next();
  const WideUnsigned magnitude = (random | (WideUnsigned{1} << 127U)) >> (128 - bits);
  return big_integer_choice(negative, magnitude);
}

constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63U;
constexpr std::uint64_t kMantissaBits = 52;
constexpr std::int64_t kExponentBias = 1023;

// The rank of a real number in ascending order: -0.0 is just below 0.0. A NaN has no rank.
std::uint64_t rank_of(double value) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return (bits & kSignBit) != 0 ? ~bits : bits | kSignBit;
}

// The inverse. Every bit pattern that is a number has a rank, so a uniform rank is a uniform bit pattern.
double at_rank(std::uint64_t rank) noexcept {
  return std::bit_cast<double>((rank & kSignBit) != 0 ? rank ^ kSignBit : ~rank);
}

// As if the number were normal: subnormal ones all have the least exponent.
std::int64_t exponent_of(double value) noexcept {
  const std::uint64_t field = (std::bit_cast<std::uint64_t>(value) & ~kSignBit) >> kMantissaBits;
  return static_cast<std::int64_t>(field) - kExponentBias;
}

// The constraints of a float draw, except NaN. Bounds are compared by rank, because -0.0 and 0.0 are two values here.
struct RealRange {
  double low;
  double high;
  double smallest_nonzero;

  // Most of its values are so large that a uniform draw would give little else.
  [[nodiscard]] bool is_wide() const noexcept { return !((high / 2) - (low / 2) < 0x1p63); }

  [[nodiscard]] bool permits(double value) const noexcept {
    const std::uint64_t rank = rank_of(value);
    const bool inside = rank_of(low) <= rank && rank <= rank_of(high);
    return inside && (value == 0 || std::fabs(value) >= smallest_nonzero);
  }
};

// Any bit pattern in the range: every exponent is as likely as any other.
double any_real(Rng& rng, const RealRange& range) {
  const std::uint64_t low_rank = rank_of(range.low);
  const double value = at_rank(low_rank + rng.below(rank_of(range.high) - low_rank + 1));
  if (range.permits(value)) {
    return value;
  }
  // In between, so it is too close to zero.
  const double step = std::copysign(range.smallest_nonzero, value);
  for (const double instead : {step, -step, 0.0, -0.0}) {
    if (range.permits(instead)) {
      return instead;
    }
  }
  ORDEAL_CHECK(false, "no real number in [" << range.low << ", " << range.high << "] is at least "
                                            << range.smallest_nonzero << " away from zero");
  return range.low;
}

// The range is not wide.
double uniform_real(Rng& rng, const RealRange& range) noexcept {
  const double share = rng.unit();
  return (range.low * (1 - share)) + (range.high * share);
}

// Everywhere in the range: uniform, or any bit pattern if uniform draws would only be large.
double spread_real(Rng& rng, const RealRange& range) {
  if (!range.is_wide()) {
    const double value = uniform_real(rng, range);
    if (range.permits(value)) {
      return value;
    }
  }
  return any_real(rng, range);
}

// An integer, or one divided by a small number: halves, quarters, amounts of money. In a short range seldom an integer,
// because most draws would be the same few.
double simple_real(Rng& rng, const RealRange& range) {
  constexpr std::array<double, 8> kDivisors{1, 1, 1, 1, 2, 4, 10, 100};
  constexpr std::array<double, 16> kDivisorsWide{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 10, 100};
  constexpr std::array<double, 8> kDivisorsShort{1, 2, 4, 8, 10, 10, 100, 100};
  constexpr double kShort = 16;
  constexpr double kExact = 0x1p53;
  const bool is_short = (range.high / 2) - (range.low / 2) < kShort / 2;
  const std::span<const double> divisors =
      is_short ? std::span(kDivisorsShort) : (range.is_wide() ? std::span<const double>(kDivisorsWide) : kDivisors);
  const double divisor = divisors[rng.below(divisors.size())];
  const double low = std::clamp(std::ceil(range.low * divisor), -kExact, kExact);
  const double high = std::clamp(std::floor(range.high * divisor), -kExact, kExact);
  if (low > high) {
    return spread_real(rng, range);
  }
  const auto low_integer = static_cast<std::int64_t>(low);
  const auto high_integer = static_cast<std::int64_t>(high);
  const std::int64_t numerator = draw_integer(rng, low_integer, high_integer, 0);
  return static_cast<double>(numerator) / divisor;
}

// Of uniform exponent, with mantissas short and long: in half of the draws 16 exponents below 2^9, in the others 128
// below 2^64, or below the larger end of the range.
double scaled_real(Rng& rng, const RealRange& range) noexcept {
  const std::int64_t reach = std::max(exponent_of(range.low), exponent_of(range.high));
  const bool moderate = rng.below(2) == 0;
  const std::int64_t top = std::min<std::int64_t>(reach, moderate ? 8 : 63);
  const auto down = static_cast<std::int64_t>(rng.below(moderate ? 16 : 128));
  const std::int64_t exponent = std::max<std::int64_t>(-1022, top - down);
  const std::uint64_t zeros = rng.below(kMantissaBits + 1);
  const std::uint64_t mantissa = (rng.next() >> 12U) & (~std::uint64_t{0} << zeros);
  const bool negative = range.low < 0 && (range.high <= 0 || rng.below(2) == 0);
  const auto field = static_cast<std::uint64_t>(exponent + kExponentBias) << kMantissaBits;
  return std::bit_cast<double>(field | mantissa | (negative ? kSignBit : 0));
}

// The ends, the numbers next to them, and the ends moved inwards by one.
double edge_real(Rng& rng, const RealRange& range) noexcept {
  switch (rng.below(6)) {
    case 0:
      return range.low;
    case 1:
      return range.high;
    case 2:
      return at_rank(rank_of(range.low) + 1);
    case 3:
      return at_rank(rank_of(range.high) - 1);
    case 4:
      return range.low + 1;
    default:
      return range.high - 1;
  }
}

// Where rounding, overflow, underflow or a conversion goes wrong. Drawn with both signs.
constexpr std::array kHardReals{
    0.0,
    5e-324,                   // the smallest number above zero
    2.225073858507201e-308,   // the largest subnormal number
    2.2250738585072014e-308,  // the smallest normal number
    0x1p-149,                 // the smallest single above zero
    0x1p-126,                 // the smallest normal single
    0x1p-24,                  // the smallest half above zero
    0x1p-53,                  // half the distance from 1 to the next number
    0x1p-52,
    1e-5,
    0.1,
    0.3,
    0.30000000000000004,  // 0.1 + 0.2
    1.0 / 3.0,
    0.49999999999999994,  // floor(x + 0.5) is 1
    0.5,
    0.9999999999999999,
    1.0,
    1.0000000000000002,
    1.1,
    1.5,
    2.5,    // half to even
    2.675,  // below its decimal text, so it rounds down
    1e7,
    0x1p31,
    0x1p32,
    9007199254740991.0,  // from here on x + 1 may equal x
    9007199254740992.0,
    9007199254740994.0,
    1e15,
    1e16,  // from here on the text has an exponent
    0x1p63,
    0x1p64,
    1e22,
    1e23,                    // the first power of ten that is not exact
    3.4028234663852886e38,   // the largest single
    1e154,                   // its square is finite, that of the next is not
    1.7976931348623157e308,  // the largest number
    std::numeric_limits<double>::infinity(),
};

// Uniform over those that the range permits; if it permits none, any bit pattern.
double hard_real(Rng& rng, const RealRange& range) {
  const auto at = [](std::size_t i) { return i % 2 == 0 ? kHardReals[i / 2] : -kHardReals[i / 2]; };
  std::size_t permitted = 0;
  for (std::size_t i = 0; i < 2 * kHardReals.size(); ++i) {
    permitted += range.permits(at(i)) ? 1U : 0U;
  }
  if (permitted == 0) {
    return spread_real(rng, range);
  }
  std::uint64_t left = rng.below(permitted);
  std::size_t i = 0;
  while (!range.permits(at(i)) || left-- > 0) {
    ++i;
  }
  return at(i);
}

// Quiet and signalling, of both signs.
double draw_nan(Rng& rng) noexcept {
  constexpr std::array<std::uint64_t, 4> kNans{0x7FF8000000000000U, 0xFFF8000000000000U, 0x7FF0000000000001U,
                                               0xFFF0000000000001U};
  return std::bit_cast<double>(kNans[rng.below(kNans.size())]);
}

// Shares in percent, cumulative. The rest goes to the edges.
struct RealShares {
  std::uint64_t simple;
  std::uint64_t uniform;
  std::uint64_t scaled;
  std::uint64_t any;
  std::uint64_t hard;
};

constexpr RealShares kNarrowShares{30, 65, 75, 80, 92};
constexpr RealShares kWideShares{58, 58, 73, 83, 94};

// May be out of range; draw_real() then draws again, from values certainly inside.
double draw_candidate(Rng& rng, const RealRange& range) {
  const RealShares& shares = range.is_wide() ? kWideShares : kNarrowShares;
  const std::uint64_t percent = rng.below(100);
  if (percent < shares.simple) {
    return simple_real(rng, range);
  }
  if (percent < shares.uniform) {
    return uniform_real(rng, range);
  }
  if (percent < shares.scaled) {
    return scaled_real(rng, range);
  }
  if (percent < shares.any) {
    return any_real(rng, range);
  }
  return percent < shares.hard ? hard_real(rng, range) : edge_real(rng, range);
}

// By squaring. std::pow may differ in the last bit between libraries.
double power(double base, std::uint64_t exponent) noexcept {
  double result = 1;
  for (; exponent > 0; exponent >>= 1U) {
    if ((exponent & 1U) != 0) {
      result *= base;
    }
    base *= base;
  }
  return result;
}

// The p for which a geometric variable, cut off at `most`, has the mean `mean`: p (1 - p^most) / (1 - p) = mean. Eight
// iterations of p / (1 - p) = mean / (1 - p^most) are exact to a percent while mean <= most / 2.
double continue_probability(double mean, std::uint64_t most) noexcept {
  if (mean >= static_cast<double>(most)) {
    return 1;
  }
  double odds = std::max(0.0, mean);
  // Far from the cut-off p^most is below 2^-40.
  const int rounds = static_cast<double>(most) > 32 * (1 + odds) ? 0 : 8;
  for (int i = 0; i < rounds; ++i) {
    odds = mean / (1 - power(odds / (1 + odds), most));
  }
  return odds / (1 + odds);
}

// The number of successes before the first failure, at most `most`. The binary digits of a geometric variable are
// independent: digit i is one with odds p^(2^i). So a mean of a million costs twenty coins.
std::uint64_t geometric(Rng& rng, double p, std::uint64_t most) noexcept {
  if (p >= 1) {
    return most;
  }
  std::uint64_t result = 0;
  double odds = p;
  for (unsigned digit = 0; digit < 63 && odds > 0x1p-60; ++digit) {
    if (rng.unit() * (1 + odds) < odds) {
      result |= std::uint64_t{1} << digit;
    }
    odds *= odds;
  }
  return std::min(result, most);
}

// One draw of the generator for eight bytes.
void fill_random(Rng& rng, std::string& bytes) noexcept {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    word = i % 8 == 0 ? rng.next() : word >> 8U;
    bytes[i] = static_cast<char>(word & 0xFFU);
  }
}

// Each byte repeats the one before it three times of four.
void fill_runs(Rng& rng, std::string& bytes) noexcept {
  fill_random(rng, bytes);
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    if (rng.below(4) != 0) {
      bytes[i] = bytes[i - 1];
    }
  }
}

// Printable ASCII.
void fill_text(Rng& rng, std::string& bytes) noexcept {
  for (char& byte : bytes) {
    byte = static_cast<char>(' ' + rng.below(95));
  }
}

}  // namespace

// One draw decides how to draw, one or more others draw. Changing the shares changes every tape.
std::int64_t draw_integer(Rng& rng, std::int64_t low, std::int64_t high, std::int64_t toward) {
  ORDEAL_CHECK(low <= high, "low=" << low << " high=" << high);
  const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  if (span <= kUniformRange) {
    return rng.between(low, high);
  }
  const IntegerRange range{low, high};
  const Wide simplest = std::clamp(toward, low, high);
  const IntegerShares& shares = span <= kMediumRange ? kMediumShares : kLargeShares;
  const std::uint64_t percent = rng.below(100);
  Wide value = 0;
  if (percent < shares.near) {
    value = near_integer(rng, range, simplest);
  } else if (percent < shares.away) {
    value = away_integer(rng, range, simplest);
  } else if (percent < shares.uniform) {
    value = uniform_integer(rng, range);
  } else if (percent < shares.end) {
    value = end_integer(rng, range, simplest);
  } else {
    value = landmark_integer(rng, range, simplest);
  }
  ORDEAL_DCHECK(range.contains(value), "an integer outside of [" << low << ", " << high << "]");
  return static_cast<std::int64_t>(value);
}

// An open side has no end, but bugs lie beyond 64 bits too: one draw in seventeen goes there.
Choice draw_unbounded_integer(Rng& rng, std::optional<std::int64_t> low, std::optional<std::int64_t> high,
                              std::int64_t toward) {
  if (low && high) {
    return Choice::integer(draw_integer(rng, *low, *high, toward));
  }
  const Wide simplest = std::clamp(toward, low.value_or(INT64_MIN), high.value_or(INT64_MAX));
  const auto range = [&](Wide open) {
    return IntegerRange{low ? *low : simplest - open, high ? *high : simplest + open};
  };
  const std::uint64_t percent = rng.below(100);
  if (percent < 40) {
    return integer_choice(near_integer(rng, range(kNear), simplest));
  }
  if (percent < 66) {
    return integer_choice(away_integer(rng, range(kOpenSmall), simplest));
  }
  if (percent < 76) {
    return integer_choice(away_integer(rng, range(kOpenLarge), simplest));
  }
  if (percent < 90) {
    return integer_choice(landmark_integer(rng, range(kOpenLarge), simplest));
  }
  if (percent < 94) {
    const Wide inward = rng.below(4) == 0 ? 1 : 0;
    return integer_choice(low ? *low + inward : (high ? *high - inward : simplest));
  }
  return tail_integer(rng, !low && (high || rng.below(2) == 0));
}

// NaN first, because it is in no range.
double draw_real(Rng& rng, double low, double high, bool allow_nan, double smallest_nonzero) {
  ORDEAL_CHECK(!std::isnan(low) && !std::isnan(high), "low=" << low << " high=" << high);
  ORDEAL_CHECK(rank_of(low) <= rank_of(high), "low=" << low << " high=" << high);
  if (allow_nan && rng.below(25) == 0) {
    return draw_nan(rng);
  }
  const RealRange range{low, high, smallest_nonzero};
  const double candidate = draw_candidate(rng, range);
  const double value = range.permits(candidate) ? candidate : spread_real(rng, range);
  ORDEAL_DCHECK(range.permits(value), value << " is outside of [" << low << ", " << high << "]");
  return value;
}

// A geometric length above the minimum, with the requested mean. In a small range both ends have their own share,
// because a full container is a special state.
std::size_t draw_size(Rng& rng, std::size_t low, std::size_t high, double average) {
  ORDEAL_CHECK(low <= high, "low=" << low << " high=" << high);
  const std::size_t room = high - low;
  if (room == 0) {
    return low;
  }
  if (room <= kSizeRangeSmall) {
    const std::uint64_t pick = rng.below(32);
    if (pick < 2) {
      return pick == 0 ? low : high;
    }
  }
  return low + geometric(rng, continue_probability(average - static_cast<double>(low), room), room);
}

// Alphabets are in shrink order, so that low indexes are the plain characters.
std::uint32_t draw_alphabet_index(Rng& rng, std::uint32_t size) {
  constexpr std::uint32_t kCommon = 128;
  constexpr std::uint32_t kLatin = 256;
  constexpr std::uint32_t kScripts = 12'256;
  ORDEAL_CHECK(size > 0, "an alphabet has a letter");
  const auto between = [&](std::uint32_t begin, std::uint32_t end) {
    return begin + static_cast<std::uint32_t>(rng.below(end - begin));
  };
  if (size <= kLatin) {
    return between(0, size);
  }
  const std::uint64_t twentieth = rng.below(20);
  if (twentieth < 9) {
    return between(0, kCommon);
  }
  if (twentieth < 15) {
    return between(kCommon, kLatin);
  }
  return between(kLatin, twentieth == 15 ? std::min(size, kScripts) : size);
}

// Runs of equal bytes, text, all ones and all zeros look like structure to parsers.
std::string draw_bytes(Rng& rng, std::size_t low, std::size_t high) {
  std::string bytes(draw_size(rng, low, high, average_size(low, high)), '\0');
  const std::uint64_t style = rng.below(16);
  if (style < 8) {
    fill_random(rng, bytes);
  } else if (style < 11) {
    fill_runs(rng, bytes);
  } else if (style < 13) {
    fill_text(rng, bytes);
  } else if (style < 14) {
    bytes.assign(bytes.size(), '\xff');
  }
  return bytes;  // the others stay zero
}

// Like Hypothesis for its collections.
double average_size(std::size_t low, std::size_t high) noexcept {
  const auto least = static_cast<double>(low);
  return std::min(std::max(least * 2, least + 5), least + (static_cast<double>(high - low) / 2));
}

}  // namespace ordeal
