// Finds the choice of a run that became a compared value, and the value that it needs for the comparison to turn out
// otherwise.
//
// A pure function, for any thread. O(choices before the comparison) for each way to match, at most kEditsMax edits.
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
  kInside,  // whether left contains right, both texts or both bytes
};
inline constexpr std::size_t kRelations = 5;

// Two values that the program compared in step number `steps` of a run, counted from 1.
struct Comparison {
  std::size_t steps = 0;
  Relation relation = Relation::kEqual;
  Choice left;
  Choice right;
};

// A new value for one choice of a tape; `index` counts through all its steps.
struct ChoiceEdit {
  std::size_t index = 0;
  Choice value;

  friend bool operator==(const ChoiceEdit&, const ChoiceEdit&) = default;
};

// The maximum number of edits for one comparison.
inline constexpr std::size_t kEditsMax = 12;

// Returns edits after which the comparison should hold, newest choice first: where one side, or a value from which it
// is easily computed (a byte of it, its length, its text, an offset), was drawn in that run, the other side replaces
// it. Whether a value is within the bounds of its draw is not known here: the replay checks that.
//
// Aschermann, Schumilo, Blazytko, Gawlik, Holz, "REDQUEEN: Fuzzing with Input-to-State Correspondence" (NDSS 2019).
// Choices replace its colourised bytes of input: each is known individually.
std::vector<ChoiceEdit> edits_toward(const Tape& tape, const Comparison& comparison);

}  // namespace ordeal
