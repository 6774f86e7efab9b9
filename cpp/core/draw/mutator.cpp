#include "core/draw/mutator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "core/base/check.h"
#include "core/tape/text.h"
#include "core/tape/wide_integer.h"

namespace ordeal {
namespace {

constexpr std::int64_t kNearMax = 16;
constexpr std::uint64_t kByteBits = 8;
// The length of slices that are doubled or deleted.
constexpr std::uint64_t kSliceMax = 8;
constexpr char32_t kCharacterMax = 0x10FFFF;

// `value + delta`, clamped to the bounds without overflow.
std::int64_t moved(std::int64_t value, std::int64_t delta, std::int64_t low, std::int64_t high) noexcept {
  ORDEAL_DCHECK(low <= value && value <= high, "value=" << value << " low=" << low << " high=" << high);
  if (delta > 0) {
    return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(value) < static_cast<std::uint64_t>(delta)
               ? high
               : value + delta;
  }
  return static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(low) < static_cast<std::uint64_t>(-delta)
             ? low
             : value + delta;
}

// How many bits differ within the bounds: flipping higher ones would always leave the range.
std::uint64_t bits_of_range(std::int64_t low, std::int64_t high) noexcept {
  const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  return static_cast<std::uint64_t>(std::bit_width(span));
}

// The changed bits if they are a value within the bounds, else the value as it was: a mutation that does nothing is
// cheap, one that leaves the strategy is wrong.
std::int64_t if_inside(std::uint64_t bits, std::int64_t value, std::int64_t low, std::int64_t high) noexcept {
  const auto result = static_cast<std::int64_t>(bits);
  return result < low || result > high ? value : result;
}

// Flips one bit, to find masks and flags.
std::int64_t flipped(Rng& rng, std::int64_t value, std::int64_t low, std::int64_t high) noexcept {
  const std::uint64_t bit = 1ULL << rng.below(bits_of_range(low, high));
  return if_inside(static_cast<std::uint64_t>(value) ^ bit, value, low, high);
}

// Replaces a whole byte: no sequence of flips and small steps does this in reasonable time.
std::int64_t with_other_byte(Rng& rng, std::int64_t value, std::int64_t low, std::int64_t high) noexcept {
  const std::uint64_t bytes = (bits_of_range(low, high) + kByteBits - 1) / kByteBits;
  const std::uint64_t shift = kByteBits * rng.below(bytes);
  const std::uint64_t byte = rng.below(1ULL << kByteBits);
  return if_inside((static_cast<std::uint64_t>(value) & ~(0xFFULL << shift)) | (byte << shift), value, low, high);
}

// The opposite, the double or the half.
std::int64_t scaled(Rng& rng, std::int64_t value, std::int64_t low, std::int64_t high) noexcept {
  switch (rng.below(3)) {
    case 0:
      return if_inside(0 - static_cast<std::uint64_t>(value), value, low, high);
    case 1:
      return value > INT64_MAX / 2 || value < INT64_MIN / 2
                 ? value
                 : if_inside(static_cast<std::uint64_t>(value) * 2, value, low, high);
    default:
      return if_inside(static_cast<std::uint64_t>(value / 2), value, low, high);
  }
}

// Larger ones are left unchanged: their sums and flips might not fit.
constexpr std::uint64_t kWideBitsMax = 120;

// Of the magnitude; -2^n has as many bits as 2^n - 1.
std::uint64_t bits_of(Wide value) noexcept {
  const Wide magnitude = value < 0 ? -(value + 1) : value;
  const auto high = static_cast<std::uint64_t>(magnitude >> 64U);
  const auto low = static_cast<std::uint64_t>(magnitude);
  return static_cast<std::uint64_t>(high != 0 ? 64 + std::bit_width(high) : std::bit_width(low));
}

// An integer whose bounds the core does not know: a small step, a flip, or the opposite.
Choice mutate_wide(Rng& rng, const Choice& choice) {
  const auto value = wide_of(choice);
  if (!value || bits_of(*value) > kWideBitsMax) {
    return choice;
  }
  const std::uint64_t pick = rng.below(4);
  if (pick < 2) {
    return integer_choice(*value + rng.between(-kNearMax, kNearMax));
  }
  // Up to the bit above its highest one.
  return integer_choice(pick == 2 ? *value ^ (Wide{1} << rng.below(bits_of(*value) + 1)) : -*value);
}

// One change of a sequence of characters or bytes.
template <typename Row>
class RowEdit {
 public:
  RowEdit(Rng& rng, Row row, const Row& other) : rng_(rng), row_(std::move(row)), other_(other) {}

  // The kinds of edits that AFL and libFuzzer make, one for each call. Each draw is a separate statement, because the
  // order of two in one expression is up to the compiler.
  Row change() {
    if (row_.empty()) {
      return other_;
    }
    switch (rng_.below(8)) {
      case 0: {
        const auto instead = unit();
        row_[at()] = instead;
        break;
      }
      case 1: {
        const auto added = unit();
        row_.insert(static_cast<std::size_t>(rng_.below(row_.size() + 1)), 1, added);
        break;
      }
      case 2:
      case 3:
        cut();
        break;
      case 4:
        doubled();
        break;
      case 5:
        stepped();
        break;
      default:
        join();
        break;
    }
    return row_;
  }

 private:
  std::size_t at() { return rng_.below(row_.size()); }

  // From one of the two sequences, or a printable character.
  Row::value_type unit() {
    const std::uint64_t pick = rng_.below(3);
    if (pick == 0 && !other_.empty()) {
      return other_[rng_.below(other_.size())];
    }
    return pick == 1 ? row_[at()] : static_cast<Row::value_type>(U' ' + rng_.below(95));
  }

  // The length of a part that begins there.
  std::size_t slice(std::size_t begin) {
    ORDEAL_DCHECK(begin < row_.size(), "begin=" << begin << " size=" << row_.size());
    const std::uint64_t most = std::min<std::uint64_t>(kSliceMax, row_.size() - begin);
    return 1 + rng_.below(most);
  }

  void cut() {
    const std::size_t begin = at();
    row_.erase(begin, slice(begin));
  }

  void doubled() {
    const std::size_t begin = at();
    row_.insert(begin, Row(row_.substr(begin, slice(begin))));
  }

  // The next or the previous character; at the ends of the range the only one there is.
  void stepped() {
    auto& unit = row_[at()];
    constexpr auto kLast = std::is_same_v<Row, std::u32string> ? kCharacterMax : char32_t{0};
    const bool is_last = unit == static_cast<Row::value_type>(kLast);
    const bool up = unit == 0 || (!is_last && rng_.below(2) == 0);
    unit = static_cast<Row::value_type>(up ? unit + 1 : unit - 1);
  }

  // At either end, replacing a part, or replacing everything.
  void join() {
    switch (rng_.below(4)) {
      case 0:
        row_ = other_ + row_;
        break;
      case 1:
        row_ += other_;
        break;
      case 2:
        row_.replace(at(), other_.size(), other_);
        break;
      default:
        row_ = other_.empty() ? row_ : other_;
        break;
    }
  }

  Rng& rng_;
  Row row_;
  const Row& other_;
};

}  // namespace

// Three in ten leave the value unchanged: what led to a state is often right as it is.
std::int64_t mutate_integer(Rng& rng, std::int64_t value, std::int64_t low, std::int64_t high) {
  ORDEAL_CHECK(low <= value && value <= high, "value=" << value << " low=" << low << " high=" << high);
  if (low == high) {
    return value;
  }
  switch (rng.below(10)) {
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
    case 7:
      return with_other_byte(rng, value, low, high);
    case 8:
      return scaled(rng, value, low, high);
    default:
      return rng.chance(0.5) ? low : high;
  }
}

// May violate the constraints; the caller checks, as for all kinds except integers with bounds.
double mutate_real(Rng& rng, double value) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (rng.below(8)) {
    case 0:
      return std::nextafter(value, kInfinity);
    case 1:
      return std::nextafter(value, -kInfinity);
    case 2:
      return value + static_cast<double>(rng.between(1, kNearMax));
    case 3:
      return value - static_cast<double>(rng.between(1, kNearMax));
    case 4:
      return -value;
    case 5:
      return rng.below(2) == 0 ? value * 2 : value / 2;
    case 6:
      return 1 / value;
    default:
      return std::round(value);
  }
}

// Character by character, so that UTF-8 stays whole.
std::string mutate_text(Rng& rng, std::string_view utf8, std::string_view other) {
  const std::u32string characters = characters_of(other);
  return utf8_of(RowEdit<std::u32string>(rng, characters_of(utf8), characters).change());
}

std::string mutate_bytes(Rng& rng, std::string_view bytes, std::string_view other) {
  const std::string row(other);
  return RowEdit<std::string>(rng, std::string(bytes), row).change();
}

// `other` is material to join or to copy from; without it these edits do nothing.
Choice mutate_choice(Rng& rng, const Choice& choice, const Choice* other) {
  const std::string_view blob = other == nullptr ? std::string_view() : std::string_view(other->blob());
  switch (choice.kind) {
    case ChoiceKind::kBoolean:
      return Choice::boolean(choice.number == 0);
    case ChoiceKind::kInteger:
      return mutate_wide(rng, choice);
    case ChoiceKind::kFloat:
      return Choice::real(mutate_real(rng, choice.as_real()));
    case ChoiceKind::kString:
      return Choice::text(mutate_text(rng, choice.blob(), blob));
    case ChoiceKind::kBytes:
      return Choice::bytes(mutate_bytes(rng, choice.blob(), blob));
  }
  return choice;
}

}  // namespace ordeal
