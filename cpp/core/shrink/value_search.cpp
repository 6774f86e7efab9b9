#include "core/shrink/value_search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "core/base/check.h"
#include "core/tape/choice_rank.h"

// The coroutines below yield in separate statements (`const bool accepted = co_yield …`) and copy what they keep: a
// reference held while a candidate is tried may refer to what its verdict replaced.

namespace ordeal {
namespace {

// How far a thorough search looks beyond a passing value: up to ten less, and up to four halvings.
constexpr std::uint64_t kStepMax = 10;
constexpr std::uint64_t kHalvingsMax = 4;
// What a float may be a whole number of: of one, of halves, then of ever smaller powers of ten.
constexpr std::array kScales{1.0, 2.0, 1e1, 1e2, 1e3, 1e4, 1e6, 1e9, 1e12};
// Equal characters together before single ones, for texts that must repeat a character.
constexpr std::array kTogetherFirst{true, false};

// Between `low`, which passed, and a distance that failed.
SearchCoroutine<std::uint64_t> bisected(std::uint64_t low, std::uint64_t high) {
  ORDEAL_DCHECK(low < high, "low=" << low << " high=" << high);
  while (high - low > 1) {
    const std::uint64_t middle = low + ((high - low) / 2);
    const bool accepted = co_yield middle;
    (accepted ? high : low) = middle;
  }
}

// Below a distance of one less, which passed.
// Halving finds smaller orders of magnitude; repeatedly subtracting a fixed step finds remainders.
SearchCoroutine<std::uint64_t> leaps(std::uint64_t distance) {
  for (std::uint64_t halvings = 1; halvings <= kHalvingsMax && distance >> halvings > 0; ++halvings) {
    const std::uint64_t half = distance >> halvings;
    const bool accepted = co_yield half;
    if (accepted) {
      co_return;
    }
  }
  for (std::uint64_t step = 2; step <= kStepMax && step < distance; ++step) {
    const bool accepted = co_yield distance - step;
    if (!accepted) {
      continue;
    }
    const std::uint64_t rest = (distance - step) % step;
    co_await each_of(smaller_distances((distance - step) / step, Effort::kLight),
                     [rest, step](std::uint64_t times) { return rest + (times * step); });
    co_return;
  }
}

// Whether an integer at this distance on the other side of the simplest value is allowed.
bool allows(std::uint64_t distance, bool negative, const Constraint& constraint) {
  const auto bound = static_cast<std::uint64_t>(negative ? constraint.low : constraint.high);
  const auto simplest = static_cast<std::uint64_t>(constraint.simplest);
  return distance <= (negative ? simplest - bound : bound - simplest);
}

// The other side first, if the value is below the simplest one: of two at the same distance the one above is simpler.
// Finally one closer on the lower side, which is simpler than the value above.
SearchCoroutine<Choice> simpler_integers(const Choice& now, Constraint constraint, Effort effort) {
  ORDEAL_DCHECK(!now.is_big(), "a big integer has no distance");
  const auto is_below = [&] { return now.number < constraint.simplest; };
  if (is_below() && allows(distance_of(now, constraint), false, constraint)) {
    co_yield integer_at(distance_of(now, constraint), false, constraint);
  }
  co_await each_of(smaller_distances(distance_of(now, constraint), effort),
                   [&](std::uint64_t distance) { return integer_at(distance, is_below(), constraint); });
  const std::uint64_t distance = distance_of(now, constraint);
  if (!is_below() && distance > 1 && allows(distance - 1, true, constraint)) {
    co_yield integer_at(distance - 1, true, constraint);
  }
}

// Including leading zero bits of the highest byte.
std::size_t bits_in(const std::u32string& magnitude) { return magnitude.size() * 8; }

// Bit 0 is the lowest of the last byte.
bool bit_of(const std::u32string& magnitude, std::size_t bit) {
  ORDEAL_DCHECK(bit < bits_in(magnitude), "bit " << bit << " of " << bits_in(magnitude));
  return ((magnitude[magnitude.size() - 1 - (bit / 8)] >> (bit % 8)) & 1U) != 0;
}

void set_bit(std::u32string& magnitude, std::size_t bit, bool value) {
  ORDEAL_DCHECK(bit < bits_in(magnitude), "bit " << bit << " of " << bits_in(magnitude));
  char32_t& byte = magnitude[magnitude.size() - 1 - (bit / 8)];
  const auto mask = static_cast<char32_t>(1U << (bit % 8));
  byte = value ? byte | mask : byte & ~mask;
}

// Like bisection: finds the smallest magnitude from which on all fail, bit by bit from the highest.
SearchCoroutine<Choice> smaller_bits(const Choice& now, bool negative) {
  std::u32string magnitude = magnitude_of(now);
  for (std::size_t bit = bits_in(magnitude); bit-- > 0;) {
    if (!bit_of(magnitude, bit)) {
      continue;
    }
    std::u32string less = magnitude;
    set_bit(less, bit, false);
    for (std::size_t low = 0; low < bit; ++low) {
      set_bit(less, low, true);
    }
    const bool accepted = co_yield integer_of(less, negative);
    if (accepted) {
      magnitude = std::move(less);
    }
  }
}

// Zero, then the other sign, then fewer bytes, then bit by bit: as many candidates as bits, not as values.
SearchCoroutine<Choice> simpler_big_integers(const Choice& now, Constraint constraint, Effort effort) {
  const bool nothing = co_yield Choice::integer(constraint.simplest);
  const bool is_negative = (static_cast<std::uint8_t>(now.blob().empty() ? '\0' : now.blob().back()) & 0x80U) != 0;
  if (nothing || effort == Effort::kLight) {
    co_return;
  }
  bool negative = is_negative;
  if (is_negative) {
    const bool accepted = co_yield integer_of(magnitude_of(now), false);
    negative = !accepted;
    // A repair may have replaced the value, by a small one where only negative integers are that big.
    if (!now.is_big()) {
      co_return;
    }
  }
  const std::u32string whole = magnitude_of(now);
  co_await each_of(smaller_distances(whole.size(), Effort::kLight),
                   [&](std::uint64_t size) { return integer_of(whole.substr(0, size), negative); });
  if (!now.is_big()) {
    co_return;
  }
  co_await smaller_bits(now, negative);
}

// The nearest multiples of 1 / scale.
SearchCoroutine<Choice> neighbours(double scale, double value) {
  const double towards_zero = std::trunc(value * scale);
  const bool lower = co_yield Choice::real(towards_zero / scale);
  if (!lower) {
    co_yield Choice::real((towards_zero + std::copysign(1.0, value)) / scale);
  }
}

// Whole numbers, halves, then more and more decimals; of each first towards zero, then away from it. What ran may be
// something else, such as a bound that was nearer.
SearchCoroutine<Choice> shorter_reals(const Choice& now) {
  for (const double scale : kScales) {
    const double value = now.as_real();
    if (!std::isfinite(value) || std::nearbyint(value * scale) / scale == value) {
      co_return;
    }
    co_await neighbours(scale, value);
  }
}

// Less of the last decimal, or of the exponent where whole numbers are more than one apart.
SearchCoroutine<double> smaller_reals(double value, Effort effort) {
  const double sign = std::copysign(1.0, value);
  if (std::abs(value) >= 0x1p53) {
    co_await each_of(smaller_distances(static_cast<std::uint64_t>(std::ilogb(value)), Effort::kLight),
                     [sign](std::uint64_t exponent) { return sign * std::ldexp(1.0, static_cast<int>(exponent)); });
    co_return;
  }
  const int decimals = decimals_of(value);
  if (decimals > kDecimalsMax) {
    co_return;
  }
  const double unit = is_half_of_whole(value) ? 2.0 : power_of_ten(decimals);
  co_await each_of(smaller_distances(static_cast<std::uint64_t>(std::nearbyint(std::abs(value) * unit)), effort),
                   [=](std::uint64_t distance) { return sign * (static_cast<double>(distance) / unit); });
}

// From special values to whole numbers to fewer decimals to smaller ones, in the order of ranks.
SearchCoroutine<Choice> simpler_reals(const Choice& now, Constraint constraint, Effort effort) {
  const bool nothing = co_yield simplest_choice(ChoiceKind::kFloat, constraint);
  if (nothing || std::isnan(now.as_real())) {
    co_return;
  }
  if (std::signbit(now.as_real())) {
    co_yield Choice::real(-now.as_real());
  }
  if (std::isinf(now.as_real())) {
    const bool accepted = co_yield Choice::real(std::copysign(std::numeric_limits<double>::max(), now.as_real()));
    if (!accepted) {
      co_return;
    }
  }
  if (effort == Effort::kThorough) {
    co_await shorter_reals(now);
  }
  co_await each_of(smaller_reals(now.as_real(), effort), &Choice::real);
}

// Parts with a power of two as length, from the end. Never below the minimum size of the draw.
SearchCoroutine<Choice> shorter_texts(const Choice& now, Constraint constraint) {
  const auto size_min = static_cast<std::size_t>(std::max<std::int64_t>(constraint.low, 0));
  for (std::size_t size = std::bit_floor(row_of(now, constraint).size() / 2); size > 0; size /= 2) {
    for (std::size_t end = row_of(now, constraint).size(); end >= size; end -= size) {
      std::u32string row = row_of(now, constraint);
      if (row.size() < size_min + size || row.size() < end) {
        break;
      }
      co_yield text_of(row.erase(end - size, size), now.kind, constraint);
    }
  }
}

// All of the characters that are equal to the one at `at`, or that one alone.
std::u32string with_character(std::u32string row, std::size_t at, char32_t rank, bool all_equal) {
  ORDEAL_DCHECK(at < row.size(), "at=" << at << " size=" << row.size());
  const char32_t replaced = row[at];
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i == at || (all_equal && row[i] == replaced)) {
      row[i] = rank;
    }
  }
  return row;
}

// Also below a few characters that pass: letters are not all next to each other.
SearchCoroutine<std::uint64_t> smaller_ranks(std::uint64_t rank) {
  for (bool less = true; less;) {
    auto search = smaller_distances(rank, Effort::kLight);
    while (const auto distance = search.next()) {
      const bool accepted = co_yield *distance;
      rank = accepted ? *distance : rank;
      search.accept(accepted);
    }
    less = false;
    for (std::uint64_t halvings = 1; !less && halvings <= kHalvingsMax && rank >> halvings > 0; ++halvings) {
      less = co_yield rank >> halvings;
      rank = less ? rank >> halvings : rank;
    }
  }
}

// Each character towards the simplest one of the alphabet. An accepted candidate that changes the length ends it,
// because positions then have another meaning.
SearchCoroutine<Choice> simpler_characters(const Choice& now, Constraint constraint, bool all_equal) {
  for (std::size_t at = 0; at < row_of(now, constraint).size(); ++at) {
    const std::u32string row = row_of(now, constraint);
    const bool is_alone = std::ranges::count(row, row[at]) == 1;
    if (row[at] == 0 || (all_equal && (is_alone || row.find(row[at]) < at))) {
      continue;
    }
    auto search = smaller_ranks(row[at]);
    while (const auto rank = search.next()) {
      const bool accepted =
          co_yield text_of(with_character(row, at, static_cast<char32_t>(*rank), all_equal), now.kind, constraint);
      search.accept(accepted);
      if (row_of(now, constraint).size() != row.size()) {
        co_return;
      }
    }
  }
}

// Bytes as the digits of a number: one less of one of them, with the highest of all that follow.
SearchCoroutine<Choice> borrowed_bytes(const Choice& now, Constraint constraint) {
  for (std::size_t at = 0; at + 1 < now.blob().size(); ++at) {
    std::u32string row = row_of(now, constraint);
    if (row[at] > 0) {
      --row[at];
      std::fill(row.begin() + static_cast<std::ptrdiff_t>(at) + 1, row.end(), 0xFF);
      co_yield text_of(std::move(row), now.kind, constraint);
    }
  }
}

// All at once, else neighbours: a bubble sort that asks for each exchange.
SearchCoroutine<Choice> sorted_texts(const Choice& now, Constraint constraint) {
  std::u32string row = row_of(now, constraint);
  std::ranges::sort(row);
  const bool all = co_yield text_of(row, now.kind, constraint);
  if (all) {
    co_return;
  }
  for (std::size_t at = 1; at < row_of(now, constraint).size(); ++at) {
    std::u32string swapped = row_of(now, constraint);
    if (swapped[at - 1] > swapped[at]) {
      std::swap(swapped[at - 1], swapped[at]);
      co_yield text_of(std::move(swapped), now.kind, constraint);
    }
  }
}

// How many characters, or bytes, a text may have of: the highest rank and one.
std::uint64_t ranks_of(ChoiceKind kind, const Constraint& constraint) {
  constexpr std::uint64_t kBytes = 256;
  constexpr std::uint64_t kCharacters = 0x80;  // ASCII is enough to make up for one
  if (kind == ChoiceKind::kBytes) {
    return kBytes;
  }
  return constraint.alphabet == nullptr ? kCharacters : static_cast<std::uint64_t>(constraint.alphabet->size());
}

// One character less, where the last one makes up for it by being a few ranks higher: 'b' for 'aa'.
SearchCoroutine<Choice> exchanged_texts(const Choice& now, Constraint constraint) {
  constexpr std::size_t kSizeMax = 8;
  constexpr char32_t kHigherMax = 3;
  const auto size_min = static_cast<std::size_t>(std::max<std::int64_t>(constraint.low, 0));
  for (char32_t higher = 1; higher <= kHigherMax; ++higher) {
    std::u32string row = row_of(now, constraint);
    if (row.size() < 2 || row.size() > kSizeMax || row.size() <= size_min) {
      co_return;
    }
    row.pop_back();
    row.back() += higher;
    if (row.back() >= ranks_of(now.kind, constraint)) {
      co_return;
    }
    const bool accepted = co_yield text_of(std::move(row), now.kind, constraint);
    if (accepted) {
      higher = 0;
    }
  }
}

// Empty, shorter, plain, simpler, sorted. A light search only tries the empty one.
SearchCoroutine<Choice> simpler_texts(const Choice& now, Constraint constraint, Effort effort) {
  const bool nothing = co_yield simplest_choice(now.kind, constraint);
  if (nothing || effort == Effort::kLight) {
    co_return;
  }
  co_await shorter_texts(now, constraint);
  const bool plain = co_yield text_of(std::u32string(row_of(now, constraint).size(), 0), now.kind, constraint);
  if (plain) {
    co_return;
  }
  // A character that is lowered or moved may make room for another.
  for (bool changed = true; changed;) {
    // What it refers to changes while this waits.
    const Choice before = now;  // NOLINT(performance-unnecessary-copy-initialization)
    for (const bool all_equal : kTogetherFirst) {
      co_await simpler_characters(now, constraint, all_equal);
    }
    co_await sorted_texts(now, constraint);
    if (now.kind == ChoiceKind::kBytes) {
      co_await borrowed_bytes(now, constraint);
    }
    // And one that became higher may make others superfluous.
    co_await shorter_texts(now, constraint);
    co_await exchanged_texts(now, constraint);
    changed = rank_of(now, constraint) < rank_of(before, constraint);
  }
}

// There is one other value.
SearchCoroutine<Choice> simpler_booleans() { co_yield Choice::boolean(false); }

}  // namespace

// Two candidates where nothing can be done: zero, and one less. What fails at one less mostly fails far below, which
// bisection finds with as many candidates as the distance has bits.
SearchCoroutine<std::uint64_t> smaller_distances(std::uint64_t distance, Effort effort) {
  if (distance == 0) {
    co_return;
  }
  const bool none = co_yield 0;
  if (none) {
    co_return;
  }
  while (distance > 1) {
    const bool one_less = co_yield distance - 1;
    if (one_less) {
      co_await bisected(0, distance - 1);
      co_return;
    }
    if (effort == Effort::kLight) {
      co_return;
    }
    const std::uint64_t before = distance;
    auto search = leaps(distance);
    while (const auto leap = search.next()) {
      const bool accepted = co_yield *leap;
      distance = accepted ? *leap : distance;
      search.accept(accepted);
    }
    if (distance == before) {
      co_return;
    }
  }
}

bool goes_on_with(const Choice& before, const Choice& now) noexcept {
  return before.kind == now.kind && (before.is_big() || !now.is_big());
}

// A boolean has one simpler value. The constraint is copied into the search, which lives longer than the call.
SearchCoroutine<Choice> simpler_choices(const Choice& now, const Constraint& constraint, Effort effort) {
  switch (now.kind) {
    case ChoiceKind::kBoolean:
      return simpler_booleans();
    case ChoiceKind::kInteger:
      return now.is_big() ? simpler_big_integers(now, constraint, effort) : simpler_integers(now, constraint, effort);
    case ChoiceKind::kFloat:
      return simpler_reals(now, constraint, effort);
    case ChoiceKind::kString:
    case ChoiceKind::kBytes:
      return simpler_texts(now, constraint, effort);
  }
  return simpler_booleans();
}

}  // namespace ordeal
