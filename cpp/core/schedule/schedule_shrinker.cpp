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
// Of more decisions none is left out with others shifted: to try all would take too many runs.
constexpr std::size_t kShiftedMax = 128;

// The next value to try for one of `value`, after `refused` did not fail.
std::uint32_t raised(std::uint32_t refused, std::uint32_t value) {
  return refused < kSmall ? refused + 1 : refused + std::max((value - refused) / 2, std::uint32_t{1});
}

}  // namespace

// A group of one is a chunk of one, and the group of all is asked about first.
ScheduleShrinker::ScheduleShrinker(std::vector<Decision> needed, tsl::robin_map<std::uint64_t, std::uint64_t> families)
    : needed_(std::move(needed)), families_(std::move(families)) {
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

// Decisions go first, as few of them explain most; then their values are lowered, and all again if any could be. A
// candidate without a verdict counts as one that passed. Nothing once each decision that is left is needed with its
// value.
std::optional<std::vector<Decision>> ScheduleShrinker::next() {
  if (asked_) {
    tell(false);
  }
  do {
    if (next_group() || next_dropped() || next_shifted() || next_lowered()) {
      asked_ = true;
      return candidate_;
    }
  } while (is_worth_another_round());
  return std::nullopt;
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
  if (phase_ == Phase::kShifts) {
    if (still_fails) {
      drop_again();
    }
  } else if (phase_ == Phase::kValues) {
    refused_ = still_fails ? refused_ : lower_;
    lower_ = raised(refused_, needed_[at_].value);
  } else if (phase_ == Phase::kChunks && !still_fails) {
    at_ += chunk_;
  }
}

// All decisions, then each group that is partly left.
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
    drop_again();
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
      changed_ = false;  // another round: what was needed with a dropped decision may no longer be
    } else {
      chunk_ /= 2;
      changed_ = false;
    }
  }
  phase_ = phase_ == Phase::kChunks ? Phase::kShifts : phase_;
  return false;
}

// From the last decision on, as that one has the fewest behind it: first what is in its place, at last all of its kind.
bool ScheduleShrinker::next_shifted() {
  if (phase_ != Phase::kShifts) {
    return false;
  }
  while (needed_.size() <= kShiftedMax && shifts_ < kShifts * needed_.size()) {
    const std::size_t dropped = needed_.size() - 1 - (shifts_ / kShifts);
    candidate_ = shifted(dropped, static_cast<Shift>(shifts_ % kShifts));
    ++shifts_;
    const auto tail = needed_.begin() + static_cast<std::ptrdiff_t>(dropped);
    if (!std::equal(candidate_.begin() + static_cast<std::ptrdiff_t>(dropped), candidate_.end(), tail + 1)) {
      return true;  // else it was refused as a chunk of one
    }
  }
  phase_ = Phase::kValues;
  at_ = 0;
  changed_ = false;
  return false;
}

void ScheduleShrinker::drop_again() {
  phase_ = Phase::kChunks;
  chunk_ = (needed_.size() + 1) / 2;
  at_ = shifts_ = 0;
  changed_ = false;
}

// With milder values fewer decisions may be needed: a crash that comes earlier makes what happened after it needless.
bool ScheduleShrinker::is_worth_another_round() {
  const bool is_worth = changed_ && needed_.size() > 1;
  if (is_worth) {
    drop_again();
  }
  return is_worth;
}

bool ScheduleShrinker::is_moved(const DecisionLabel& label, const DecisionLabel& gone, Shift shift) const {
  if (label.kind != gone.kind || label.site != gone.site || label.occurrence == 0) {
    return false;
  }
  if (shift == Shift::kKind || label.actor == gone.actor) {
    return true;
  }
  const auto one = families_.find(label.actor);
  const auto other = families_.find(gone.actor);
  return shift == Shift::kFamily && one != families_.end() && other != families_.end() && one->second == other->second;
}

std::vector<Decision> ScheduleShrinker::shifted(std::size_t dropped, Shift shift) const {
  ORDEAL_CHECK(dropped < needed_.size(), "a decision that is not there is left out");
  const DecisionLabel& gone = needed_[dropped].label;
  std::vector<Decision> kept(needed_.begin(), needed_.begin() + static_cast<std::ptrdiff_t>(dropped));
  for (std::size_t i = dropped + 1; i < needed_.size(); ++i) {
    Decision decision = needed_[i];
    DecisionLabel& label = decision.label;
    if (is_moved(label, gone, shift)) {
      --label.occurrence;
      // A decision stays where it is if the place before it is taken.
      if (std::ranges::any_of(kept, [&](const Decision& each) { return each.label == label; })) {
        ++label.occurrence;
      }
    }
    kept.push_back(decision);
  }
  return kept;
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
