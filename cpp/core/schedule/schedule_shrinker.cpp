#include "core/schedule/schedule_shrinker.h"

#include <algorithm>
#include <iterator>

#include "core/base/check.h"

namespace ordeal {
namespace {

// Values up to this are tried one by one.
constexpr std::uint32_t kSmall = 12;
// How many actors may be tried as a whole: more of them are few decisions each.
constexpr std::size_t kGroupsMax = 32;

// The next value to try for one of `value`, after `refused` did not fail.
std::uint32_t raised(std::uint32_t refused, std::uint32_t value) {
  return refused < kSmall ? refused + 1 : refused + std::max((value - refused) / 2, std::uint32_t{1});
}

}  // namespace

// A group of one is a chunk of one, and the group of all is asked about first.
ScheduleShrinker::ScheduleShrinker(std::vector<Decision> needed) : needed_(std::move(needed)) {
  for (const bool is_kind : {true, false}) {
    std::vector<std::uint64_t> seen;
    for (const Decision& decision : needed_) {
      const Group group{.is_kind = is_kind, .name = is_kind ? decision.label.kind : decision.label.actor};
      if (seen.size() == kGroupsMax || std::ranges::find(seen, group.name) != seen.end()) {
        continue;
      }
      seen.push_back(group.name);
      const auto size = std::ranges::count_if(needed_, [&](const Decision& each) { return group.has(each); });
      if (size > 1 && static_cast<std::size_t>(size) < needed_.size()) {
        groups_.push_back(group);
      }
    }
  }
}

// Decisions go first, as few of them explain most; then their values are lowered. A candidate that nobody judged counts
// as one that passed. Nothing once each decision that is left is needed with its value.
std::optional<std::vector<Decision>> ScheduleShrinker::next() {
  if (asked_) {
    tell(false);
  }
  if (!next_group() && !next_dropped() && !next_lowered()) {
    return std::nullopt;
  }
  asked_ = true;
  return candidate_;
}

// What failed becomes the base of the next candidates. Without a failure a chunk is passed over, or the value next
// above the refused one is tried.
void ScheduleShrinker::tell(bool still_fails) {
  asked_ = false;
  ORDEAL_CHECK(candidate_.size() <= needed_.size(), "a candidate has more decisions than the run that it simplifies");
  ORDEAL_CHECK(phase_ != Phase::kValues || at_ < needed_.size(), "no decision is being lowered");
  if (still_fails) {
    needed_ = candidate_;
    changed_ = true;
  }
  if (phase_ == Phase::kValues) {
    refused_ = still_fails ? refused_ : lower_;
    lower_ = raised(refused_, needed_[at_].value);
  } else if (phase_ == Phase::kChunks && !still_fails) {
    at_ += chunk_;
  }
}

// All decisions, then each group of which some are left and some are not.
bool ScheduleShrinker::next_group() {
  while (phase_ == Phase::kGroups && !needed_.empty() && group_ <= groups_.size()) {
    candidate_.clear();
    if (group_ > 0) {
      std::ranges::copy_if(needed_, std::back_inserter(candidate_),
                           [&](const Decision& each) { return !groups_[group_ - 1].has(each); });
    }
    ++group_;
    if (candidate_.size() < needed_.size()) {
      return true;
    }
  }
  if (phase_ == Phase::kGroups) {
    phase_ = Phase::kChunks;
    chunk_ = (needed_.size() + 1) / 2;
    changed_ = false;
  }
  return false;
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
  phase_ = Phase::kValues;
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
