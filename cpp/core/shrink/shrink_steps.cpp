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

// Sizes are halved, as in delta debugging, so a sweep asks for about two candidates for each step at most. The last
// step is tried first, and alone: it is the one that fails, so it mostly has to stay, and chunks that hold it would all
// be refused. From the end, so that steps are tried before those that made what they use.
//
// An accepted chunk may remove further steps, as those that needed its values are repaired away; so the position is
// moved back inside the tape after each verdict. Chunks are not tried again while the tape has the same steps.
SearchCoroutine<Tape> RemoveSteps::candidates(const FailingTape& current) {
  const Tape& tape = current.tape;
  const bool was_swept = tape.size() < 3 || swept_ == hash_of_steps(tape);
  std::size_t pinned = 1;
  if (!was_swept) {
    const bool without_last = co_yield without_steps(tape, tape.size() - 1, tape.size());
    pinned = without_last ? 0 : 1;
  }
  for (std::size_t size = was_swept ? 1 : std::max<std::size_t>(2, std::bit_floor(tape.size() / 2)); size > 0;
       size /= 2) {
    Patience patience;
    bool goes_on = true;
    for (std::size_t end = tape.size() - std::min(size > 1 ? pinned : 0, tape.size()); end > 0 && goes_on;) {
      const std::size_t begin = end > size ? end - size : 0;
      const bool accepted = co_yield without_steps(tape, begin, end);
      goes_on = patience.goes_on(accepted);
      end = std::min(begin, tape.size());
    }
  }
  swept_ = hash_of_steps(tape);
}

// Two steps that only go together, such as an acquire and its release: each of them alone is refused. Near pairs come
// first, as most that belong together are near each other.
//
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
