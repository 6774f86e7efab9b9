#include "core/shrink/fault_ablation.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace ordeal {
namespace {

// The number of set flags.
std::vector<std::size_t> positions(const std::vector<bool>& flags) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (flags[i]) {
      result.push_back(i);
    }
  }
  return result;
}

}  // namespace

// Faults in the order of their first toggle, which is the order of the report.
FaultAblation::FaultAblation(Tape failing) : tape_(std::move(failing)) {
  for (const TapeStep& step : tape_.steps()) {
    if (is_fault(step.kind) && std::ranges::find(faults_, step.target) == faults_.end()) {
      faults_.push_back(step.target);
    }
  }
  necessary_.assign(faults_.size(), false);
  if (faults_.empty()) {
    phase_ = Phase::kDone;
  }
}

// Known results are used at once: no tape is run twice.
std::optional<Tape> FaultAblation::candidate() {
  while (const std::optional<Removal> removal = next_removal()) {
    const auto known = fails_.find(*removal);
    if (known == fails_.end()) {
      is_pending_ = *removal;
      return without(is_pending_);
    }
    conclude(*removal, known->second);
  }
  return std::nullopt;
}

// After each candidate, once.
void FaultAblation::accept(bool fails) {
  ORDEAL_CHECK(!is_pending_.empty(), "told without having asked");
  const Removal removal = std::exchange(is_pending_, {});
  fails_.emplace(removal, fails);
  conclude(removal, fails);
}

std::vector<std::pair<std::uint32_t, bool>> FaultAblation::verdicts() const {
  std::vector<std::pair<std::uint32_t, bool>> result;
  result.reserve(faults_.size());
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    result.emplace_back(faults_[i], necessary_[i]);
  }
  return result;
}

// What the phase needs to know next: without one fault, without all unmarked ones, without a pair, or without the
// suspects except a part of them.
std::optional<FaultAblation::Removal> FaultAblation::next_removal() const {
  Removal removal(faults_.size(), false);
  switch (phase_) {
    case Phase::kSingles:
      ORDEAL_DCHECK(first_ < faults_.size(), "fault " << first_ << " of " << faults_.size());
      removal[first_] = true;
      return removal;
    case Phase::kRest:
      return unmarked();
    case Phase::kPairs:
      ORDEAL_DCHECK(first_ < second_ && second_ < open_.size(), "pair " << first_ << ", " << second_);
      removal[open_[first_]] = true;
      removal[open_[second_]] = true;
      return removal;
    case Phase::kNarrow:
      return suspects_without_chunk();
    case Phase::kDone:
      break;
  }
  return std::nullopt;
}

// If the failure is gone, marks a single removed fault as necessary, or examines a set of them more closely. Ends when
// the failure was seen without all unmarked faults.
void FaultAblation::conclude(const Removal& removal, bool fails) {
  switch (phase_) {
    case Phase::kSingles:
      if (!fails) {
        require(removal);
      }
      if (++first_ == faults_.size()) {
        phase_ = Phase::kRest;
      }
      break;
    case Phase::kRest:
      if (fails) {
        phase_ = Phase::kDone;
      } else if (!std::exchange(paired_, true)) {
        open_ = positions(removal);
        first_ = 0;
        second_ = 0;
        phase_ = Phase::kPairs;
        next_pair();
      } else {
        start_narrowing();
      }
      break;
    case Phase::kPairs:
      if (!fails) {
        require(removal);
      }
      next_pair();
      break;
    case Phase::kNarrow:
      narrow(removal, fails);
      break;
    case Phase::kDone:
      break;
  }
  if (phase_ == Phase::kRest && std::ranges::find(necessary_, false) == necessary_.end()) {
    phase_ = Phase::kDone;
  }
}

// Each pair of open positions once.
void FaultAblation::next_pair() noexcept {
  if (++second_ >= open_.size()) {
    ++first_;
    second_ = first_ + 1;
  }
  if (second_ >= open_.size()) {
    phase_ = Phase::kRest;
  }
}

// The failure is gone without all unmarked faults, and no pair of them explains it.
void FaultAblation::start_narrowing() {
  open_ = positions(unmarked());
  chunk_ = open_.size() / 2;
  first_ = 0;
  phase_ = Phase::kNarrow;
  if (chunk_ == 0) {
    require(unmarked());
    phase_ = Phase::kRest;
  }
}

// Delta debugging: the failure is gone without the open faults. Parts that can be restored leave the suspects, until
// none can.
void FaultAblation::narrow(const Removal& removal, bool fails) {
  ORDEAL_DCHECK(chunk_ > 0, "nothing left to narrow down");
  if (fails) {
    first_ += chunk_;
  } else {
    open_ = positions(removal);
    chunk_ = std::min(chunk_, open_.size() / 2);
  }
  if (first_ >= open_.size() && chunk_ > 0) {
    first_ = 0;
    chunk_ /= 2;
  }
  if (chunk_ == 0) {
    for (const std::size_t position : open_) {
      necessary_[position] = true;
    }
    phase_ = Phase::kRest;
  }
}

// Marks each fault of the removal as necessary.
void FaultAblation::require(const Removal& removal) {
  for (const std::size_t position : positions(removal)) {
    necessary_[position] = true;
  }
}

// All faults without evidence so far.
FaultAblation::Removal FaultAblation::unmarked() const {
  Removal removal = necessary_;
  removal.flip();
  return removal;
}

FaultAblation::Removal FaultAblation::suspects_without_chunk() const {
  Removal removal(faults_.size(), false);
  for (std::size_t i = 0; i < open_.size(); ++i) {
    removal[open_[i]] = i < first_ || i >= first_ + chunk_;
  }
  return removal;
}

// Removes both toggles of a fault, so that it is never on.
Tape FaultAblation::without(const Removal& removal) const {
  std::vector<bool> keep;
  keep.reserve(tape_.size());
  for (const TapeStep& step : tape_.steps()) {
    const auto position = std::ranges::find(faults_, step.target) - faults_.begin();
    keep.push_back(!is_fault(step.kind) || !removal[static_cast<std::size_t>(position)]);
  }
  return tape_.subset(keep);
}

}  // namespace ordeal
