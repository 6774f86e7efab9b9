#include "core/tape/alphabet.h"

#include <algorithm>
#include <iterator>

#include "core/base/check.h"

namespace ordeal {

// The order of Hypothesis: the digits first, then up to Z, then those below the digits downwards, then the rest. The
// first 256 ranks are cached, because nearly all draws are among them.
Alphabet::Alphabet(std::vector<Interval> intervals) : intervals_(std::move(intervals)) {
  constexpr std::uint32_t kTabled = 256;
  constexpr char32_t kCharacterMax = 0x10FFFF;
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < intervals_.size(); ++i) {
    const auto [low, high] = intervals_[i];
    ORDEAL_CHECK(low <= high && high <= kCharacterMax, "interval " << i << " is " << static_cast<std::uint32_t>(low)
                                                                   << " to " << static_cast<std::uint32_t>(high));
    ORDEAL_CHECK(i == 0 || intervals_[i - 1].second < low, "interval " << i << " is not above the one before");
    places_.push_back(size_);
    size_ += static_cast<std::uint32_t>(high - low) + 1;
  }
  if (size_ == 0) {
    return;
  }
  zero_ = place_from(U'0');
  z_ = std::min(place_from(U'Z'), size_ - 1);
  first_.reserve(std::min(size_, kTabled));
  while (next < std::min(size_, kTabled)) {
    first_.push_back(look_up(next++));
  }
}

// The position of the character, or of the next one in the alphabet, in ascending order.
std::uint32_t Alphabet::place_from(char32_t character) const noexcept {
  for (std::size_t i = 0; i < intervals_.size(); ++i) {
    const auto [low, high] = intervals_[i];
    if (low >= character) {
      return places_[i];
    }
    if (character <= high) {
      return places_[i] + static_cast<std::uint32_t>(character - low);
    }
  }
  return size_;
}

// O(log intervals).
char32_t Alphabet::look_up(std::uint32_t rank) const noexcept {
  ORDEAL_DCHECK(rank < size_, "rank=" << rank << " size=" << size_);
  std::uint32_t place = rank;
  if (rank <= z_) {
    // If there is nothing from '0' to 'Z', zero_ may be one above z_: then all go downwards from there.
    const std::int64_t digits_to_z = static_cast<std::int64_t>(z_) - zero_;
    const std::int64_t at = rank;
    place = static_cast<std::uint32_t>(at <= digits_to_z ? at + zero_ : zero_ - (at - digits_to_z));
  }
  const auto after = std::ranges::upper_bound(places_, place);
  ORDEAL_DCHECK(after != places_.begin(), "place " << place << " is below the first interval");
  const auto i = static_cast<std::size_t>(std::distance(places_.begin(), after)) - 1;
  return intervals_[i].first + (place - places_[i]);
}

// O(log intervals).
std::uint32_t Alphabet::rank_of(char32_t character) const noexcept {
  const auto after = std::ranges::upper_bound(intervals_, character, {}, &Interval::first);
  if (after == intervals_.begin() || character > std::prev(after)->second) {
    return size_ + static_cast<std::uint32_t>(character);
  }
  const auto i = static_cast<std::size_t>(std::distance(intervals_.begin(), after)) - 1;
  const std::uint32_t place = places_[i] + static_cast<std::uint32_t>(character - intervals_[i].first);
  if (place > z_) {
    return place;
  }
  return place >= zero_ ? place - zero_ : z_ - place;
}

bool Alphabet::contains(char32_t character) const noexcept {
  const auto after = std::ranges::upper_bound(intervals_, character, {}, &Interval::first);
  return after != intervals_.begin() && character <= std::prev(after)->second;
}

}  // namespace ordeal
