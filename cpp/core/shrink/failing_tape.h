// A tape that was seen to fail, with the constraints of its draws, and the order in which such tapes are simpler.
//
// Candidates are plain tapes; only what ran and failed becomes a FailingTape, because only a run knows the constraints
// of its draws.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/tape/choice_rank.h"
#include "core/tape/constraint.h"
#include "core/tape/span.h"
#include "core/tape/tape.h"

namespace ordeal {

// A value type. Constraints belong to choices, by index; a missing one means that nothing is known. The spans are in
// order, each once; the choices of an argument are one, unless it is a reference.
class FailingTape {
 public:
  explicit FailingTape(Tape failing, std::vector<Constraint> known = {}, std::vector<Span> noted = {});

  Tape tape;
  std::vector<Constraint> constraints;
  std::vector<Span> spans;

  [[nodiscard]] const Choice& choice(std::size_t index) const {
    ORDEAL_DCHECK(index < tape.choice_count(), "index=" << index << " choices=" << tape.choice_count());
    return tape.choices()[index];
  }
  [[nodiscard]] bool is_simplest(std::size_t index) const {
    return ordeal::is_simplest(choice(index), constraints[index]);
  }
  [[nodiscard]] ChoiceRank rank(std::size_t index) const {
    ORDEAL_DCHECK(index < constraints.size(), "index=" << index << " constraints=" << constraints.size());
    return rank_of(choice(index), constraints[index]);
  }
};

// How simple tapes are; less is simpler. Fewer steps matter most, then smaller fault windows, then fewer choices, then
// each choice from the first on, by the constraint of its tape. O(choices), and a rank is only made for
// choices that differ.
//
// The order is well-founded, so going down in it always ends.
std::weak_ordering rank_order(const FailingTape& left, const FailingTape& right);
// The number of faults that are on, summed over all steps.
std::uint64_t fault_windows_of(const Tape& tape);

// Whether the steps of two tapes do the same and draw equally often; the values may differ.
bool has_same_shape(const Tape& left, const Tape& right);
// A hash of the steps without their choices.
std::uint64_t hash_of_steps(const Tape& tape) noexcept;
// A hash of what happens when the tape is replayed, as Tape::hash(), but several times quicker: the choices are hashed
// independently of each other. For one process.
std::uint64_t fingerprint_of(const Tape& tape) noexcept;

}  // namespace ordeal
