// A tape that was seen to fail, with what its draws allowed, and the order in which such tapes are simpler.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/tape/choice_rank.h"
#include "core/tape/domain.h"
#include "core/tape/tape.h"

namespace ordeal {

// A value type. Domains are those of the choices, by index; where they are missing nothing is known.
class Failing {
 public:
  explicit Failing(Tape failing, std::vector<Domain> known = {}) : tape(std::move(failing)), domains(std::move(known)) {
    domains.resize(tape.choice_count());
  }

  Tape tape;
  std::vector<Domain> domains;

  [[nodiscard]] const Choice& choice(std::size_t index) const { return tape.choices()[index]; }
  [[nodiscard]] bool is_simplest(std::size_t index) const { return ordeal::is_simplest(choice(index), domains[index]); }
  [[nodiscard]] ChoiceRank rank(std::size_t index) const { return rank_of(choice(index), domains[index]); }
};

// How simple a tape is; less is simpler. Fewer steps come before all else, then smaller fault windows (for each step
// the number of faults that are on during it, added up), then fewer choices, then each choice from the first on.
//
// It is well-founded, so that going down in it always ends.
struct TapeRank {
  explicit TapeRank(const Failing& failing);

  std::size_t steps;
  std::uint64_t windows;
  std::size_t choice_count;
  std::vector<ChoiceRank> choices;

  friend auto operator<=>(const TapeRank&, const TapeRank&) = default;
};

// The steps of two tapes do the same, whatever they draw, and draw as often.
bool has_same_shape(const Tape& left, const Tape& right);
// A hash of what the steps are, whatever they draw.
std::uint64_t hash_of_steps(const Tape& tape) noexcept;

}  // namespace ordeal
