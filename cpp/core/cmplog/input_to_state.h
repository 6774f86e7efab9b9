// Which choice of a run became a value that the program compared, and what it must be for the comparison to turn out
// otherwise.
//
// A function of its arguments alone, for any thread. O(choices before the comparison) for each way to match, at most
// kEditsMax edits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/tape/choice.h"
#include "core/tape/tape.h"

namespace ordeal {

enum class Relation : std::uint8_t {
  kEqual,   // equal or not
  kOrder,   // less or greater
  kPrefix,  // whether left begins with right
  kSuffix,  // whether left ends with right
  kInside,  // whether left is a part of right, both texts or both bytes
};
inline constexpr std::size_t kRelations = 5;

// Two values that the program compared while a run was in its step number `steps`, counted from 1.
struct Comparison {
  std::size_t steps = 0;
  Relation relation = Relation::kEqual;
  Choice left;
  Choice right;
};

// Another value for one choice of a tape; `index` counts through all its steps.
struct ChoiceEdit {
  std::size_t index = 0;
  Choice value;

  friend bool operator==(const ChoiceEdit&, const ChoiceEdit&) = default;
};

// The most edits for one comparison.
inline constexpr std::size_t kEditsMax = 12;

// Edits after which the comparison should hold, newest choice first: where one side, or something that it is a simple
// function of (a byte of it, its length, its text, an offset), was drawn in that run, the other side takes its place.
// Whether a value is within the bounds of its draw is not known here: the replay sees to that.
//
// Aschermann, Schumilo, Blazytko, Gawlik, Holz, "REDQUEEN: Fuzzing with Input-to-State Correspondence" (NDSS 2019).
// Choices take the place of their colourised bytes of input: they are known one by one.
std::vector<ChoiceEdit> edits_toward(const Tape& tape, const Comparison& comparison);

}  // namespace ordeal
