#include "core/tape/sibling_tapes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace ordeal {
namespace {

// By what the step does, not by its arguments: shrinking looks for those.
bool is_same(const TapeStep& step, const TapeStep& other) noexcept {
  return step.kind == other.kind && step.target == other.target;
}

// The steps of `known` with the last one of those that are `step` at the end; empty where none is.
Tape with_last(const Tape& known, const TapeStep& step) {
  Tape tape;
  for (std::size_t moved = known.size(); moved-- > 0;) {
    if (is_same(known.step(moved), step)) {
      for (std::size_t at = 0; at < known.size(); ++at) {
        if (at != moved) {
          tape.append(known, known.step(at));
        }
      }
      tape.append(known, known.step(moved));
      break;
    }
  }
  return tape;
}

// `known` without the step at `left_out`, then the last one of `failing`. What made the values that this takes is of
// another run.
Tape with_step_of(const Tape& known, std::size_t left_out, const Tape& failing) {
  Tape tape;
  std::uint32_t origin = 0;
  for (std::size_t at = 0; at < known.size(); ++at) {
    if (at != left_out) {
      tape.append(known, known.step(at));
    }
    origin = std::max(origin, known.step(at).origin + 1);
  }
  const TapeStep& last = failing.last_step();
  tape.begin_step(last.kind, last.target, origin);
  for (const TapeArgument& argument : failing.arguments(last)) {
    tape.begin_argument(argument.name);
    for (const Choice& choice : failing.choices(argument)) {
      tape.add(choice);
    }
  }
  return tape;
}

}  // namespace

// O(exchanges x choices of `known`). Trying a tape that equals `failing` would be wasted.
std::vector<Tape> sibling_tapes(const Tape& known, const Tape& failing, bool exchange) {
  std::vector<Tape> tapes;
  if (known.empty() || failing.empty() || known.size() > failing.size()) {
    return tapes;
  }
  const auto add = [&](Tape tape) {
    if (!tape.empty() && tape.hash() != failing.hash()) {
      tapes.push_back(std::move(tape));
    }
  };
  add(with_last(known, failing.last_step()));
  const std::size_t exchanges = exchange ? std::min(known.size(), kExchangesMax) : 0;
  for (std::size_t i = 1; i <= exchanges; ++i) {
    add(with_step_of(known, known.size() - i, failing));
  }
  return tapes;
}

}  // namespace ordeal
