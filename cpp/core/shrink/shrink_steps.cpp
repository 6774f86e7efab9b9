#include "core/shrink/shrink_steps.h"

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "core/base/check.h"

namespace ordeal {
namespace {

bool are_of_one_rule(std::span<const TapeStep> steps) {
  return std::ranges::all_of(
      steps, [&](const TapeStep& step) { return step.kind == StepKind::kRule && step.target == steps.front().target; });
}

}  // namespace

Tape without_steps(const Tape& tape, std::size_t begin, std::size_t end) {
  ORDEAL_CHECK(begin <= end && end <= tape.size(), "[" << begin << ", " << end << ") of " << tape.size());
  std::vector<bool> keep(tape.size(), true);
  std::fill(keep.begin() + static_cast<std::ptrdiff_t>(begin), keep.begin() + static_cast<std::ptrdiff_t>(end), false);
  return tape.subset(keep);
}

// Sizes are halved, as in delta debugging, so a sweep asks for at most about two candidates for each step: halves, then
// quarters, down to pairs. Whoever wants single steps gone has RemoveSteps. The last step is tried first, and alone: it
// is the one that fails, so it mostly has to stay, and chunks that hold it would all be refused.
//
// An accepted chunk may remove further steps, as those that needed its values are repaired away; so the position is
// moved back inside the tape after each verdict.
SearchCoroutine<Tape> RemoveChunks::candidates(const FailingTape& current) {
  const Tape& tape = current.tape;
  if (tape.size() < 3 || swept_ == hash_of_steps(tape)) {
    co_return;
  }
  const bool without_last = co_yield without_steps(tape, tape.size() - 1, tape.size());
  const std::size_t pinned = without_last ? 0 : 1;
  Patience patience;
  bool goes_on = true;
  for (std::size_t size = std::max<std::size_t>(2, std::bit_floor(tape.size() / 2)); size >= 2 && goes_on; size /= 2) {
    for (std::size_t end = tape.size() - std::min(pinned, tape.size()); end > 0 && goes_on;) {
      const std::size_t begin = end > size ? end - size : 0;
      const bool accepted = co_yield without_steps(tape, begin, end);
      goes_on = patience.goes_on(accepted);
      end = std::min(begin, tape.size());
    }
  }
  swept_ = hash_of_steps(tape);
}

// From the end, so that steps are tried before those that made what they use. One candidate for each step, until so
// many in a row were refused that the rest is not worth their replays.
SearchCoroutine<Tape> RemoveSteps::candidates(const FailingTape& current) {
  const Tape& tape = current.tape;
  Patience patience;
  bool goes_on = true;
  for (std::size_t end = tape.size(); end > 0 && goes_on; end = std::min(end - 1, tape.size())) {
    const bool accepted = co_yield without_steps(tape, end - 1, end);
    goes_on = patience.goes_on(accepted);
  }
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

// A loop that a machine went round too often: any two of its turns may be needed, but not all of them. Chunks miss such
// runs, as they begin and end at multiples of their size. Long runs first. The last step fails, and stays.
SearchCoroutine<Tape> RemoveRuns::candidates(const FailingTape& current) {
  const Tape& tape = current.tape;
  if (tape.size() > kStepsMax || swept_ == hash_of_steps(tape)) {
    co_return;
  }
  constexpr std::size_t kShortest = 3;  // other passes remove single steps and pairs
  for (std::size_t size = tape.size() - std::min<std::size_t>(tape.size(), 1); size >= kShortest; --size) {
    for (std::size_t begin = 0; begin + size < tape.size();) {
      if (!are_of_one_rule(tape.steps().subspan(begin, size))) {
        ++begin;
        continue;
      }
      const bool accepted = co_yield without_steps(tape, begin, begin + size);
      begin += accepted ? 0 : 1;
    }
  }
  swept_ = hash_of_steps(tape);
}

}  // namespace ordeal
