// The characters that a text may hold, in order from simple to unusual.
//
// The intervals are those that Hypothesis makes from a strategy's categories, so an alphabet of all Unicode is a few
// hundred pairs and not a million characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace ordeal {

// Immutable: safe to share between threads.
class Alphabet {
 public:
  using Interval = std::pair<char32_t, char32_t>;

  // Intervals of code points, both ends included, ascending and separate.
  explicit Alphabet(std::vector<Interval> intervals);

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  // The character of a rank below size(): first '0' to 'Z', then those below '0' downwards, then those above 'Z'. This
  // is Hypothesis' order, so that shrinking means the same.
  [[nodiscard]] char32_t at(std::uint32_t rank) const noexcept {
    return rank < first_.size() ? first_[rank] : look_up(rank);
  }
  [[nodiscard]] bool contains(char32_t character) const noexcept;
  // The inverse of at(). Characters that are not in the alphabet come after all that are.
  [[nodiscard]] std::uint32_t rank_of(char32_t character) const noexcept;
  // The character of any rank that rank_of() returns.
  [[nodiscard]] char32_t character_of(std::uint32_t rank) const noexcept {
    return rank < size_ ? at(rank) : static_cast<char32_t>(rank - size_);
  }

 private:
  [[nodiscard]] char32_t look_up(std::uint32_t rank) const noexcept;
  // The position of the first character that is not below this one.
  [[nodiscard]] std::uint32_t place_from(char32_t character) const noexcept;

  std::vector<Interval> intervals_;
  std::vector<std::uint32_t> places_;  // of the first character of each interval, in ascending order of characters
  std::vector<char32_t> first_;        // by rank, the ones drawn most often
  std::uint32_t size_ = 0;
  std::uint32_t zero_ = 0;  // the position of '0', or where it would be
  std::uint32_t z_ = 0;     // the position of 'Z', or where it would be, but at most the last
};

}  // namespace ordeal
