#include "core/shrink/shrink_steps.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "core/base/check.h"

namespace ordeal {

Tape without_steps(const Tape& tape, std::size_t begin, std::size_t end) {
  ORDEAL_CHECK(begin <= end && end <= tape.size(), "[" << begin << ", " << end << ") of " << tape.size());
  std::vector<bool> keep(tape.size(), true);
  std::fill(keep.begin() + static_cast<std::ptrdiff_t>(begin), keep.begin() + static_cast<std::ptrdiff_t>(end), false);
  return tape.subset(keep);
}

// An accepted chunk may remove further steps, as those that needed its values are repaired away; so the position is
// moved back inside the tape after each verdict.
SearchCoroutine<Tape> RemoveChunks::candidates(const FailingTape& current) {
  const Tape& tape = current.tape;
  if (tape.size() < 3 || swept_ == hash_of_steps(tape)) {
    co_return;
  }
  const bool without_last = co_yield without_steps(tape, tape.size() - 1, tape.size());
  const std::size_t pinned = without_last ? 0 : 1;
  for (std::size_t size = std::max<std::size_t>(2, std::bit_floor(tape.size() / 2)); size >= 2; size /= 2) {
    for (std::size_t end = tape.size() - std::min(pinned, tape.size()); end > 0;) {
      const std::size_t begin = end > size ? end - size : 0;
      const bool accepted = co_yield without_steps(tape, begin, end);
      static_cast<void>(accepted);
      end = std::min(begin, tape.size());
    }
  }
  swept_ = hash_of_steps(tape);
}

// From the end, so that steps are tried before those that made what they use.
SearchCoroutine<Tape> RemoveSteps::candidates(const FailingTape& current) {
  const Tape& tape = current.tape;
  for (std::size_t end = tape.size(); end > 0; end = std::min(end - 1, tape.size())) {
    const bool accepted = co_yield without_steps(tape, end - 1, end);
    static_cast<void>(accepted);
  }
}

// Quadratic in the steps, so the distance is limited, and it is not repeated before a step is gone.
SearchCoroutine<Tape> RemovePairs::candidates(const FailingTape& current) {
  const Tape& tape = current.tape;
  if (tape.empty() || swept_ == hash_of_steps(tape)) {
    co_return;
  }
  const std::size_t distance_max = kCandidatesMax / tape.size();
  for (std::size_t distance = 1; distance <= distance_max && distance < tape.size(); ++distance) {
    for (std::size_t second = tape.size() - 1; second >= distance; second = std::min(second - 1, tape.size() - 1)) {
      std::vector<bool> keep(tape.size(), true);
      keep[second] = false;
      keep[second - distance] = false;
      const bool accepted = co_yield tape.subset(keep);
      if (accepted && tape.empty()) {
        break;
      }
    }
  }
  swept_ = hash_of_steps(tape);
}

}  // namespace ordeal
