// The characters that a text may hold, in the order from simple to strange.
//
// The intervals are what Hypothesis makes of a strategy's categories, so that an alphabet of all Unicode is a few
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

  // Intervals of code points, both ends included, ascending and apart from each other.
  explicit Alphabet(std::vector<Interval> intervals);

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  // The character of a rank below size(): '0' to 'Z' come first, then what lies below '0' from there downwards, then
  // what lies above 'Z'. Hypothesis' order, so that shrinking means the same.
  [[nodiscard]] char32_t at(std::uint32_t rank) const noexcept {
    return rank < first_.size() ? first_[rank] : look_up(rank);
  }
  [[nodiscard]] bool contains(char32_t character) const noexcept;

 private:
  [[nodiscard]] char32_t look_up(std::uint32_t rank) const noexcept;
  // The place of the first character that is not below this one.
  [[nodiscard]] std::uint32_t place_from(char32_t character) const noexcept;

  std::vector<Interval> intervals_;
  std::vector<std::uint32_t> places_;  // of the first character of each interval, in ascending order of characters
  std::vector<char32_t> first_;        // by rank, those that are drawn most
  std::uint32_t size_ = 0;
  std::uint32_t zero_ = 0;  // the place of '0', or where it would be
  std::uint32_t z_ = 0;     // the place of 'Z', or where it would be, but the last at most
};

}  // namespace ordeal
