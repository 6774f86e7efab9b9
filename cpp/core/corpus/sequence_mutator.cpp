#include "core/corpus/sequence_mutator.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "core/base/check.h"

namespace ordeal {
namespace {

constexpr std::size_t kPartStepsMax = 8;     // of a repeated part
constexpr std::size_t kPartsLeftOutMax = 4;  // the maximum that one edit removes
constexpr std::uint64_t kPartEditsMax = 4;
// How often a step of a joined or repeated part is changed.
constexpr double kChange = 0.1;

// A step of some tape, and whether its arguments should change.
struct Part {
  const Tape* from;
  TapeStep step;
  bool changed = false;
};

// Drops producers: the steps that they name may not be in the sequence. Positions stay, counted from the newest value.
MutatedSequence joined(const std::vector<Part>& parts) {
  MutatedSequence sequence;
  for (const Part& part : parts) {
    sequence.tape.append(*part.from, part.step);
    sequence.changed.push_back(part.changed);
  }
  for (std::size_t i = 0; i < sequence.tape.arguments().size(); ++i) {
    sequence.tape.replace_producer(i, TapeArgument::kNoProducer);
  }
  return sequence;
}

// Whether there is anything in the step to change.
bool draws(const Part& part) noexcept { return part.step.arguments_begin != part.step.arguments_end; }

// From 1 to `most`, with each power of two equally likely: short ones are common, long ones occur.
std::size_t length(Rng& rng, std::size_t most) {
  std::uint64_t powers = 1;
  while ((std::uint64_t{1} << powers) <= most) {
    ++powers;
  }
  const std::uint64_t low = std::uint64_t{1} << rng.below(powers);
  return std::min<std::size_t>(most, low + rng.below(low));
}

// The last `count` steps other than initialize rules.
std::vector<Part> end_of(const Tape& tape, std::size_t count) {
  std::vector<Part> parts;
  for (std::size_t i = tape.size(); i > 0 && parts.size() < count; --i) {
    if (tape.step(i - 1).kind != StepKind::kInitialize) {
      parts.push_back({&tape, tape.step(i - 1)});
    }
  }
  std::ranges::reverse(parts);
  return parts;
}

// Each step separately, so that mostly few are changed.
void change_some(Rng& rng, std::vector<Part>& parts) {
  for (Part& part : parts) {
    part.changed = rng.chance(kChange);
  }
}

// For iterators, whose distances have a sign.
using At = std::vector<Part>::difference_type;

// Up to kPartsLeftOutMax steps in a row.
void leave_out(Rng& rng, std::vector<Part>& parts) {
  ORDEAL_DCHECK(!parts.empty(), "nothing to leave out");
  const std::size_t count = std::min(length(rng, kPartsLeftOutMax), parts.size());
  const auto first = parts.begin() + static_cast<At>(rng.below(parts.size() - count + 1));
  parts.erase(first, first + static_cast<At>(count));
}

void exchange(Rng& rng, std::vector<Part>& parts) {
  const std::size_t one = rng.below(parts.size());
  // Often with its neighbour: order is what sequences are about.
  const std::size_t other = rng.chance(0.5) ? std::min(one + 1, parts.size() - 1) : rng.below(parts.size());
  std::swap(parts[one], parts[other]);
}

// Repeats a part anywhere: to do something twice, or after it was undone.
void do_again(Rng& rng, std::vector<Part>& parts) {
  const std::size_t count = std::min(length(rng, kPartStepsMax), parts.size());
  const auto first = static_cast<At>(rng.below(parts.size() - count + 1));
  const std::vector<Part> again(parts.begin() + first, parts.begin() + first + static_cast<At>(count));
  const auto place = static_cast<At>(rng.below(parts.size() + 1));
  parts.insert(parts.begin() + place, again.begin(), again.end());
}

// The step's arguments mutate from what they were.
void change(Rng& rng, std::vector<Part>& parts) {
  // Some steps have nothing to change: trying another step is better than an unchanged run.
  for (int attempt = 0; attempt < 4; ++attempt) {
    Part& part = parts[rng.below(parts.size())];
    if (draws(part)) {
      part.changed = true;
      return;
    }
  }
}

// Each kind of edit is as likely as another.
void edit_once(Rng& rng, std::vector<Part>& parts) {
  switch (rng.below(4)) {
    case 0:
      return leave_out(rng, parts);
    case 1:
      return exchange(rng, parts);
    case 2:
      return do_again(rng, parts);
    default:
      return change(rng, parts);
  }
}

}  // namespace

// The ends of several successful prefixes, one after the other.
MutatedSequence splice(Rng& rng, std::span<const Tape* const> donors, std::size_t steps_max) {
  std::vector<Part> parts;
  for (const Tape* const donor : donors) {
    ORDEAL_CHECK(donor != nullptr, "a donor is missing");
    ORDEAL_DCHECK(parts.size() <= steps_max, parts.size() << " steps, at most " << steps_max);
    const std::size_t most = std::min(donor->size(), steps_max - parts.size());
    if (most > 0) {
      const std::vector<Part> part = end_of(*donor, length(rng, most));
      parts.insert(parts.end(), part.begin(), part.end());
    }
  }
  change_some(rng, parts);
  return joined(parts);
}

// Repetition is what fills containers and wears out limits.
MutatedSequence repeat(Rng& rng, const Tape& prefix, std::size_t steps_max) {
  const std::vector<Part> part = end_of(prefix, length(rng, std::min({kPartStepsMax, prefix.size(), steps_max})));
  std::vector<Part> parts;
  if (!part.empty()) {
    const std::size_t times = length(rng, std::max<std::size_t>(1, steps_max / part.size()));
    for (std::size_t i = 0; i < times; ++i) {
      parts.insert(parts.end(), part.begin(), part.end());
    }
  }
  change_some(rng, parts);
  return joined(parts);
}

// One to kPartEditsMax edits, usually few.
MutatedSequence edit(Rng& rng, const Tape& tape) {
  std::vector<Part> parts;
  for (const TapeStep& step : tape.steps().first(std::min(tape.size(), kEditedStepsMax))) {
    parts.push_back({&tape, step});
  }
  for (std::uint64_t edits = length(rng, kPartEditsMax); edits > 0 && !parts.empty(); --edits) {
    edit_once(rng, parts);
  }
  return joined(parts);
}

}  // namespace ordeal
