#include "core/shrink/fault_ablation.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace ordeal {

// Faults in the order of their first toggle, which is the order of the report.
FaultAblation::FaultAblation(Tape failing) : tape_(std::move(failing)), search_(removals()) {
  for (const TapeStep& step : tape_.steps()) {
    if (is_fault(step.kind) && std::ranges::find(faults_, step.target) == faults_.end()) {
      faults_.push_back(step.target);
    }
  }
  necessary_.assign(faults_.size(), false);
}

// Known results are used at once: no tape is run twice.
std::optional<Tape> FaultAblation::candidate() {
  while (std::optional<Removal> removal = search_.next()) {
    const auto known = fails_.find(*removal);
    if (known == fails_.end()) {
      pending_ = *std::move(removal);
      return without(pending_);
    }
    search_.accept(known->second);
  }
  return std::nullopt;
}

// After each candidate, once.
void FaultAblation::accept(bool fails) {
  ORDEAL_CHECK(!pending_.empty(), "a verdict without a candidate");
  fails_.emplace(std::exchange(pending_, {}), fails);
  search_.accept(fails);
}

std::vector<std::pair<std::uint32_t, bool>> FaultAblation::verdicts() const {
  std::vector<std::pair<std::uint32_t, bool>> result;
  result.reserve(faults_.size());
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    result.emplace_back(faults_[i], necessary_[i]);
  }
  return result;
}

// If the failure is gone, marks a single removed fault as necessary, or examines a set of them more closely. Ends when
// the failure was seen without all unmarked faults.
SearchCoroutine<FaultAblation::Removal> FaultAblation::removals() {
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    const bool fails = co_yield Removal(1, i);
    necessary_[i] = !fails;
  }
  bool paired = false;
  for (Removal open = unmarked(); !open.empty(); open = unmarked()) {
    const bool fails = co_yield open;
    if (fails) {
      co_return;
    }
    if (std::exchange(paired, true)) {
      co_await narrowing(open);
      continue;
    }
    for (std::size_t first = 0; first < open.size(); ++first) {
      for (std::size_t second = first + 1; second < open.size(); ++second) {
        const Removal pair{open[first], open[second]};
        const bool fails_without = co_yield pair;
        if (!fails_without) {
          require(pair);
        }
      }
    }
  }
}

// Delta debugging: the failure is gone without the open faults, and no pair of them explains it. Parts that can be
// restored leave the suspects, until none can; those that are left are necessary.
SearchCoroutine<FaultAblation::Removal> FaultAblation::narrowing(Removal open) {
  for (std::size_t chunk = open.size() / 2; chunk > 0; chunk /= 2) {
    for (std::size_t first = 0; chunk > 0 && first < open.size();) {
      Removal rest = open;
      const auto begin = rest.begin() + static_cast<std::ptrdiff_t>(first);
      rest.erase(begin, begin + static_cast<std::ptrdiff_t>(std::min(chunk, open.size() - first)));
      const bool fails = co_yield rest;
      if (fails) {
        first += chunk;
      } else {
        open = std::move(rest);
        chunk = std::min(chunk, open.size() / 2);
      }
    }
  }
  require(open);
}

void FaultAblation::require(const Removal& removal) {
  for (const std::size_t position : removal) {
    necessary_[position] = true;
  }
}

// All faults without evidence so far.
FaultAblation::Removal FaultAblation::unmarked() const {
  Removal found;
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    if (!necessary_[i]) {
      found.push_back(i);
    }
  }
  return found;
}

// Removes both toggles of a fault, so that it is never on.
Tape FaultAblation::without(const Removal& removal) const {
  std::vector<bool> keep;
  for (const TapeStep& step : tape_.steps()) {
    const auto is_removed = [&](std::size_t position) { return faults_[position] == step.target; };
    keep.push_back(!is_fault(step.kind) || std::ranges::none_of(removal, is_removed));
  }
  return tape_.subset(keep);
}

}  // namespace ordeal
