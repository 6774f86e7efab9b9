#include "core/schedule/schedule_shrinker.h"

#include <algorithm>
#include <iterator>

namespace ordeal {
namespace {

// Values up to this are tried one by one.
constexpr std::uint32_t kSmall = 12;

// The next value to try for one of `value`, after `refused` did not fail.
std::uint32_t raised(std::uint32_t refused, std::uint32_t value) {
  return refused < kSmall ? refused + 1 : refused + std::max((value - refused) / 2, std::uint32_t{1});
}

}  // namespace

// Decisions go first, as few of them explain most; then their values are lowered. A candidate that nobody judged counts
// as one that passed. Nothing once each decision that is left is needed with its value.
std::optional<std::vector<Decision>> ScheduleShrinker::next() {
  if (asked_) {
    tell(false);
  }
  if (!next_dropped() && !next_lowered()) {
    return std::nullopt;
  }
  asked_ = true;
  return candidate_;
}

// What failed becomes the base of the next candidates. Without a failure a chunk is passed over, or the value next
// above the refused one is tried.
void ScheduleShrinker::tell(bool still_fails) {
  asked_ = false;
  const bool lowers = chunk_ == 0;
  if (still_fails) {
    needed_ = candidate_;
    changed_ = true;
    if (lowers) {
      lower_ = raised(refused_, needed_[at_].value);
    }
  } else if (lowers) {
    refused_ = lower_;
    lower_ = raised(refused_, needed_[at_].value);
  } else {
    at_ += chunk_;
  }
}

// Delta debugging (Zeller and Hildebrandt, TSE 2002) by chunks that halve: O(n log n) candidates for few decisions that
// matter among n, and single ones again while a round has changed anything.
bool ScheduleShrinker::next_dropped() {
  while (chunk_ > 0) {
    if (at_ < needed_.size()) {
      const auto begin = needed_.begin() + static_cast<std::ptrdiff_t>(at_);
      const auto end = needed_.begin() + static_cast<std::ptrdiff_t>(std::min(at_ + chunk_, needed_.size()));
      candidate_.assign(needed_.begin(), begin);
      candidate_.insert(candidate_.end(), end, needed_.end());
      return true;
    }
    at_ = 0;
    if (chunk_ == 1 && changed_) {
      changed_ = false;  // another round: what was needed beside a dropped decision may not be any more
    } else {
      chunk_ /= 2;
      changed_ = false;
    }
  }
  return false;
}

// Each decision from its least value up: small ones one by one, greater ones by halves of what is left.
bool ScheduleShrinker::next_lowered() {
  for (; at_ < needed_.size(); ++at_, lower_ = 1, refused_ = 0) {
    if (lower_ < needed_[at_].value) {
      candidate_ = needed_;
      candidate_[at_].value = lower_;
      return true;
    }
  }
  return false;
}

}  // namespace ordeal
