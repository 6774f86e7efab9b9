#include "core/tape/wide_integer.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/check.h"

namespace ordeal {
namespace {

constexpr std::size_t kBytesMax = sizeof(Wide);
// For an integer that does not fit into 64 bits.
constexpr std::size_t kBytesMin = 9;

}  // namespace

// Nothing for an integer of more than 128 bits, which only code of the user's can have made.
std::optional<Wide> wide_of(const Choice& choice) noexcept {
  if (choice.kind != ChoiceKind::kInteger) {
    return std::nullopt;
  }
  if (!choice.is_big()) {
    return Wide{choice.number};
  }
  const std::string& bytes = choice.blob();
  if (bytes.size() > kBytesMax) {
    return std::nullopt;
  }
  const bool negative = (static_cast<unsigned char>(bytes.back()) & 0x80U) != 0;
  auto word = negative ? ~static_cast<WideUnsigned>(0) : 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    word = (word << 8U) | static_cast<unsigned char>(bytes[i]);
  }
  return static_cast<Wide>(word);
}

// Small integers have one form and big ones another; the value alone decides.
Choice integer_choice(Wide value) {
  if (value >= INT64_MIN && value <= INT64_MAX) {
    return Choice::integer(static_cast<std::int64_t>(value));
  }
  const auto bits = static_cast<WideUnsigned>(value);
  return big_integer_choice(value < 0, value < 0 ? 0 - bits : bits);
}

// Two's complement with as few bytes as show the sign, but at least nine.
Choice big_integer_choice(bool is_negative, WideUnsigned magnitude) {
  ORDEAL_DCHECK(magnitude > static_cast<WideUnsigned>(INT64_MAX), "an integer that has room in 64 bits");
  const char sign = is_negative ? '\xff' : '\0';
  WideUnsigned word = is_negative ? 0 - magnitude : magnitude;
  std::string bytes;
  for (std::size_t i = 0; i < kBytesMax; ++i) {
    bytes.push_back(static_cast<char>(word & 0xFFU));
    word >>= 8U;
  }
  bytes.push_back(sign);
  const auto redundant = [&] { return bytes.back() == sign && ((bytes[bytes.size() - 2] ^ sign) & 0x80) == 0; };
  while (bytes.size() > kBytesMin && redundant()) {
    bytes.pop_back();
  }
  return Choice::big_integer(std::move(bytes));
}

// Like Python's int.bit_length(), which Hypothesis uses as the length of a choice.
std::size_t magnitude_bits(const Choice& integer) noexcept {
  if (!integer.is_big()) {
    const auto bits = static_cast<std::uint64_t>(integer.number);
    return static_cast<std::size_t>(std::bit_width(integer.number < 0 ? 0 - bits : bits));
  }
  const std::string_view bytes = integer.blob();
  const bool is_negative = (static_cast<unsigned char>(bytes.back()) & 0x80U) != 0;
  const std::size_t last = bytes.find_last_not_of(is_negative ? '\xff' : '\0');
  if (last == std::string_view::npos) {
    return is_negative ? 1 : 0;
  }
  const auto top = static_cast<unsigned char>(is_negative ? ~bytes[last] : bytes[last]);
  const std::size_t bits = (8 * last) + static_cast<std::size_t>(std::bit_width(top));
  // The magnitude of a negative number is its bits turned over and one more, which makes a power of two of all ones.
  const bool is_power =
      is_negative && (top & (top + 1U)) == 0 && bytes.substr(0, last).find_first_not_of('\0') == std::string_view::npos;
  return bits + (is_power ? 1 : 0);
}

}  // namespace ordeal
