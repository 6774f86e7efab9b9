// A choice: one randomly drawn value. Two runs of the same code differ only in a sequence of these.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace ordeal {

enum class ChoiceKind : std::uint8_t { kBoolean, kInteger, kFloat, kString, kBytes };

// A value type. Small kinds live in `number`; strings (UTF-8, surrogates passed through), bytes and integers outside
// int64 (two's complement, little endian, at least nine bytes) live in the blob. Tapes hold millions of choices and few
// have a blob, so a choice without one only pays for a pointer.
class Choice {
 public:
  ChoiceKind kind = ChoiceKind::kBoolean;
  std::int64_t number = 0;  // boolean 0/1, integer, or the bits of the float

  // The zero choice is `false`, the least surprising one. Made by the named functions below, so that number and blob
  // cannot contradict each other.
  Choice() noexcept = default;
  Choice(const Choice& other)
      : kind(other.kind),
        number(other.number),
        blob_(other.blob_ == nullptr ? nullptr : std::make_unique<std::string>(*other.blob_)) {}
  Choice(Choice&& other) noexcept = default;
  Choice& operator=(const Choice& other) {
    Choice copy(other);
    return *this = std::move(copy);
  }
  Choice& operator=(Choice&& other) noexcept = default;
  ~Choice() = default;

  static Choice boolean(bool value) noexcept { return {ChoiceKind::kBoolean, value ? 1 : 0}; }
  static Choice integer(std::int64_t value) noexcept { return {ChoiceKind::kInteger, value}; }
  static Choice big_integer(std::string two_complement) { return {ChoiceKind::kInteger, std::move(two_complement)}; }
  static Choice real(double value) noexcept { return {ChoiceKind::kFloat, std::bit_cast<std::int64_t>(value)}; }
  static Choice text(std::string value) { return {ChoiceKind::kString, std::move(value)}; }
  static Choice bytes(std::string value) { return {ChoiceKind::kBytes, std::move(value)}; }

  [[nodiscard]] const std::string& blob() const noexcept { return blob_ == nullptr ? nothing() : *blob_; }
  [[nodiscard]] bool is_big() const noexcept { return kind == ChoiceKind::kInteger && blob_ != nullptr; }
  [[nodiscard]] double as_real() const noexcept { return std::bit_cast<double>(number); }

  // Bit for bit: two NaNs with the same payload are equal, 0.0 and -0.0 are not.
  friend bool operator==(const Choice& left, const Choice& right) noexcept {
    return left.kind == right.kind && left.number == right.number && left.blob() == right.blob();
  }

 private:
  // One empty string for all choices without a blob, so that blob() can return a reference.
  static const std::string& nothing() noexcept {
    static const std::string kNothing;
    return kNothing;
  }

  Choice(ChoiceKind of_kind, std::int64_t value) noexcept : kind(of_kind), number(value) {}
  // An empty string needs no memory: equality compares contents, so a missing blob equals an empty one.
  Choice(ChoiceKind of_kind, std::string content)
      : kind(of_kind), blob_(content.empty() ? nullptr : std::make_unique<std::string>(std::move(content))) {}

  std::unique_ptr<const std::string> blob_;  // never an empty string
};

}  // namespace ordeal
