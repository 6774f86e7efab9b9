#include "core/shrink/shrink_faults.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/check.h"
#include "core/shrink/value_search.h"

namespace ordeal {
namespace {

// The steps in between keep their order.
Tape with_step_moved(const Tape& tape, std::size_t from, std::size_t to) {
  ORDEAL_CHECK(from < tape.size() && to < tape.size(), "from=" << from << " to=" << to << " steps=" << tape.size());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < tape.size(); ++i) {
    if (i != from) {
      order.push_back(i);
    }
  }
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), from);
  Tape moved;
  for (const std::size_t i : order) {
    moved.append(tape, tape.step(i));
  }
  return moved;
}

// On or off.
bool toggles(const TapeStep& step, std::uint32_t fault) noexcept { return is_fault(step.kind) && step.target == fault; }

// How far the toggle at `at` can move: on later, off sooner, before or after the next toggle of the same fault, and
// never past the last step, which fails.
std::uint64_t room_of(const Tape& tape, std::size_t at) {
  const TapeStep& toggle = tape.step(at);
  std::uint64_t room = 0;
  if (toggle.kind == StepKind::kFaultOn) {
    for (std::size_t i = at + 1; i + 1 < tape.size() && !toggles(tape.step(i), toggle.target); ++i) {
      ++room;
    }
  } else if (toggle.kind == StepKind::kFaultOff) {
    for (std::size_t i = at; i > 0 && !toggles(tape.step(i - 1), toggle.target); --i) {
      ++room;
    }
  }
  return room;
}

}  // namespace

// The searched distance is how far the toggle is from its best position: 0 is all the way.
SearchCoroutine<Tape> NarrowFaults::candidates(const FailingTape& current) {
  const Tape& tape = current.tape;
  for (std::size_t at = tape.size(); at-- > 0;) {
    if (at >= tape.size() || !is_fault(tape.step(at).kind)) {
      continue;
    }
    const std::size_t steps = tape.size();
    const bool later = tape.step(at).kind == StepKind::kFaultOn;
    const std::uint64_t room = room_of(tape, at);
    std::size_t now = at;
    auto search = smaller_distances(room, Effort::kLight);
    while (const auto left = search.next()) {
      const std::size_t to = later ? at + (room - *left) : at - (room - *left);
      const bool accepted = co_yield with_step_moved(tape, now, to);
      if (accepted && tape.size() != steps) {
        break;
      }
      now = accepted ? to : now;
      search.accept(accepted);
    }
  }
}

}  // namespace ordeal
