#include "core/shrink/choice_edits.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/base/rng.h"

namespace ordeal {

// O(choices). The index into the result is the index of the choice in the tape.
std::vector<Place> places_of(const Tape& tape) {
  std::vector<Place> places;
  places.reserve(tape.choice_count());
  for (std::size_t step = 0; step < tape.size(); ++step) {
    for (std::size_t argument = tape.step(step).arguments_begin; argument < tape.step(step).arguments_end; ++argument) {
      for (std::size_t number = 0; number < tape.choices(tape.arguments()[argument]).size(); ++number) {
        places.push_back({step, argument, number});
      }
    }
  }
  return places;
}

// Arguments without a choice end where the one before them does, so they are passed over.
const TapeArgument& argument_of(const Tape& tape, std::size_t index) {
  ORDEAL_CHECK(index < tape.choice_count(), "index=" << index << " choices=" << tape.choice_count());
  return *std::ranges::upper_bound(tape.arguments(), index, {}, &TapeArgument::choices_end);
}

// A bundle value: changing the position would take another value, which only MergeReferences does.
bool is_reference(const TapeArgument& argument) noexcept { return argument.producer != TapeArgument::kNoProducer; }

// Equal choices have the same hash, in every process.
std::uint64_t hash_of(const Choice& choice) {
  return hash_bytes(choice.blob(),
                    mix64(static_cast<std::uint64_t>(choice.number)) ^ static_cast<std::uint64_t>(choice.kind));
}

// By origin and name, which stay the same when earlier steps and arguments are removed.
std::uint64_t hash_of_place(const Tape& tape, const Place& place) {
  ORDEAL_DCHECK(place.step < tape.size(), "step " << place.step << " of " << tape.size());
  const std::uint64_t h = mix64(tape.step(place.step).origin) ^ tape.arguments()[place.argument].name;
  return mix64(mix64(h) ^ place.number);
}

Tape with_choice(const Tape& tape, std::size_t index, Choice choice) {
  Tape changed = tape;
  changed.replace_choice(index, std::move(choice));
  return changed;
}

// A replay draws the simplest value for each choice that is missing at the end of an argument.
Tape without_choices(const Tape& tape, std::size_t begin, std::size_t end) {
  ORDEAL_CHECK(begin <= end && end <= tape.choice_count(),
               "[" << begin << ", " << end << ") of " << tape.choice_count());
  std::vector<bool> keep(tape.choice_count(), true);
  std::fill(keep.begin() + static_cast<std::ptrdiff_t>(begin), keep.begin() + static_cast<std::ptrdiff_t>(end), false);
  return tape.subset_of_choices(keep);
}

// Big integers are only lowered alone: nothing can be added to them here.
bool is_open_integer(const FailingTape& current, std::size_t index) {
  const Choice& choice = current.choice(index);
  return choice.kind == ChoiceKind::kInteger && !choice.is_big() && !current.is_simplest(index);
}

// As unsigned 64 bits, so that the distance between any two integers fits.
std::uint64_t room_of(std::int64_t value, bool up, const Constraint& constraint) noexcept {
  if (up ? value >= constraint.high : value <= constraint.low) {
    return 0;
  }
  return up ? static_cast<std::uint64_t>(constraint.high) - static_cast<std::uint64_t>(value)
            : static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(constraint.low);
}

}  // namespace ordeal
