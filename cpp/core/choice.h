// A choice: one value that chance decided. All that varies between two runs of the same code is a sequence of these.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace ordeal {

enum class ChoiceKind : std::uint8_t { kBoolean, kInteger, kFloat, kString, kBytes };

// A value type. Small kinds live in `number`; strings (UTF-8, surrogates passed through), bytes and integers outside
// int64 (two's complement, little endian, at least nine bytes) live in `blob`.
struct Choice {
  ChoiceKind kind = ChoiceKind::kBoolean;
  std::int64_t number = 0;  // boolean 0/1, integer, or the bits of the float
  std::string blob;

  static Choice boolean(bool value) { return {ChoiceKind::kBoolean, value ? 1 : 0, {}}; }
  static Choice integer(std::int64_t value) { return {ChoiceKind::kInteger, value, {}}; }
  static Choice big_integer(std::string two_complement) { return {ChoiceKind::kInteger, 0, std::move(two_complement)}; }
  static Choice real(double value) { return {ChoiceKind::kFloat, std::bit_cast<std::int64_t>(value), {}}; }
  static Choice text(std::string value) { return {ChoiceKind::kString, 0, std::move(value)}; }
  static Choice bytes(std::string value) { return {ChoiceKind::kBytes, 0, std::move(value)}; }

  [[nodiscard]] bool is_big() const noexcept { return kind == ChoiceKind::kInteger && !blob.empty(); }
  [[nodiscard]] double as_real() const noexcept { return std::bit_cast<double>(number); }

  // Bit for bit: two NaNs with the same payload are equal, 0.0 and -0.0 are not.
  friend bool operator==(const Choice&, const Choice&) = default;
};

}  // namespace ordeal
